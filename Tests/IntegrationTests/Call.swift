import Foundation

/// The text of a call, without its NUL.
///
/// - Parameters:
///   - parameters: further members of the parameters, such as `"wait":false`.
///   - flags: further members of the call, such as `"more":true`.
func call(
    _ method: String, _ urls: [String]? = nil, parameters: String...,
    flags: [String] = []
) -> String {
    let list = urls.map { #""urls":["# + $0.map(quoted).joined(separator: ",") + "]" }
    let members = ([list].compactMap(\.self) + parameters).joined(separator: ",")
    let all = [#""method":"\#(full(method))""#, #""parameters":{\#(members)}"#] + flags
    return "{" + all.joined(separator: ",") + "}"
}

/// The full name of a method. A name without a dot belongs to the cache's own interface.
private func full(_ method: String) -> String {
    method.contains(".") ? method : "io.cached.Cache.\(method)"
}

/// A text as a JSON string.
func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    let bytes = (try? encoder.encode(text)) ?? Data()
    return String(decoding: bytes, as: UTF8.self)
}
