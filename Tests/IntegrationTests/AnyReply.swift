import CacheWire
import Foundation
import TestSupport

/// One reply of the daemon, with every parameter some reply may have.
struct AnyReply: Decodable, Sendable {
    var error: String?
    var continues: Bool?
    var parameters: Parameters?

    struct Parameters: Decodable, Sendable {
        // Items and figures.
        var items: [Item]?
        var after: String?
        var removed: [String]?
        var entries: Int?
        var bytes: Int?
        var stats: [String: JSONValue]?
        var failure: CacheWire.Failure?
        // org.varlink.service
        var product: String?
        var version: String?
        var interfaces: [String]?
        var description: String?
        // Errors.
        var method: String?
        var interface: String?
        var parameter: String?
        var limit: Int?
        var reason: String?
    }

    var items: [Item] { parameters?.items ?? [] }
    var removed: [String] { parameters?.removed ?? [] }

    init(_ text: String) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
        } catch {
            throw TestFailure("\(text.prefix(500)) is not a reply: \(error)")
        }
    }
}

/// A call as text, without its NUL.
///
/// - Parameters:
///   - parameters: the members of the parameters beside the URLs: `"wait":false`.
///   - flags: members beside method and parameters: `"more":true`.
func call(
    _ method: String, _ urls: [String]? = nil, parameters: String...,
    flags: [String] = []
) -> String {
    let list = urls.map { #""urls":["# + $0.map(quoted).joined(separator: ",") + "]" }
    let members = ([list].compactMap(\.self) + parameters).joined(separator: ",")
    let all = [#""method":"\#(full(method))""#, #""parameters":{\#(members)}"#] + flags
    return "{" + all.joined(separator: ",") + "}"
}

/// A method's full name; one without a dot is our own interface's.
private func full(_ method: String) -> String {
    method.contains(".") ? method : "io.cached.Cache.\(method)"
}

/// A text as JSON has it.
func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    let bytes = (try? encoder.encode(text)) ?? Data()
    return String(decoding: bytes, as: UTF8.self)
}

extension VarlinkConnection {
    /// The next reply.
    func nextReply(within limit: Duration = .patience) async throws -> AnyReply {
        try AnyReply(try await receiveText(within: limit))
    }

    /// Sends a call, adding the NUL, and returns the next reply.
    func ask(_ message: String, within limit: Duration = .patience) async throws -> AnyReply {
        try AnyReply(try await call(message, within: limit))
    }

    /// Takes replies of a stream up to the first with an item that will do.
    func nextItem(
        where isWanted: @Sendable (Item) -> Bool, within limit: Duration = .patience
    ) async throws -> Item {
        while true {
            let answer = try await nextReply(within: limit)
            if let item = answer.items.first(where: isWanted) { return item }
            guard answer.continues == true else {
                throw TestFailure("the stream ended with \(answer)")
            }
        }
    }

    /// Takes replies of a stream up to the last, and returns that.
    func lastReply(within limit: Duration = .patience) async throws -> AnyReply {
        while true {
            let answer = try await nextReply(within: limit)
            if answer.continues != true { return answer }
        }
    }
}
