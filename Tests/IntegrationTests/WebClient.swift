import Foundation
import Glibc
import TestSupport

/// Sends requests to a port of 127.0.0.1, each on a connection of its own.
struct WebClient: Sendable {
    let port: Int

    /// The value of `Host` unless a request has another one.
    var host: String { "127.0.0.1:\(port)" }

    /// Sends a request, and returns the response.
    ///
    /// - Parameter fields: header fields other than `Host`, `Connection` and `Content-Length`.
    func request(
        _ method: String, _ path: String, _ fields: [String: String] = [:], body: String = ""
    ) async throws -> WebResponse {
        let all = ["Host": host, "Connection": "close"].merging(fields) { $1 }
        var text = "\(method) \(path) HTTP/1.1\r\n"
        for (name, value) in all { text += "\(name): \(value)\r\n" }
        if !body.isEmpty || method == "POST" { text += "Content-Length: \(body.utf8.count)\r\n" }
        return try await send(text + "\r\n" + body)
    }

    /// Sends bytes as they are, and returns what comes until the peer closes.
    func send(_ text: String) async throws -> WebResponse {
        let bytes = try await offPool {
            let descriptor = try WebConnection.connect(port)
            defer { close(descriptor) }
            return WebConnection.exchange(descriptor, Array(text.utf8))
        }
        guard let response = WebResponse(bytes) else {
            throw TestFailure("no response: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
        }
        return response
    }
}

/// A response as it came. The fields have names in lower case.
struct WebResponse: Sendable {
    let status: Int
    let fields: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let lines = head.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count > 1, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            return nil
        }
        self.status = status
        let fields = lines.dropFirst().compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (line[..<colon].lowercased(), value)
        }
        self.fields = Dictionary(fields) { "\($0), \($1)" }
        body = Array(bytes[end.upperBound...])
    }
}

extension GalleryProgram {
    var port: Int { URL(string: address)?.port ?? 0 }
    /// The secret path, with a slash on both ends.
    var path: String { String(address.dropFirst("http://127.0.0.1:\(port)".count)) }
}
