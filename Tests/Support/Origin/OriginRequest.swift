/// A request that an origin has received.
public struct OriginRequest: Sendable {
    /// The outcome of the origin's response to a request.
    public enum Outcome: Hashable, Sendable {
        /// The script is still running.
        case answering
        /// The script ended.
        case answered
        /// The client closed the connection before the script ended.
        case abandoned
    }

    /// Counts the origin's requests from 0, in the order they came.
    public let id: Int
    /// Counts the origin's connections from 0; requests on one connection share it.
    public let connection: Int
    public let method: String
    /// The request target: path and query, as sent.
    public let target: String
    public let headers: HeaderFields
    public internal(set) var outcome = Outcome.answering

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// Parses a request's head, without the empty line at its end; `nil` if it is not HTTP/1.
    init?(head: String, id: Int, connection: Int) {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        guard let first = lines.first?.split(separator: " "), first.count == 3 else { return nil }
        self.id = id
        self.connection = connection
        method = String(first[0])
        target = String(first[1])
        headers = HeaderFields(
            lines.dropFirst().map { line in
                let name = line.prefix { $0 != ":" }
                let value = line.dropFirst(name.count + 1).drop { $0 == " " }
                return (String(name), String(value))
            })
    }
}

extension OriginRequest {
    /// N of `Range: bytes=N-`; `nil` for no range or another form.
    public var firstOfRange: Int? {
        guard let range = headers["Range"], range.hasPrefix("bytes="), range.hasSuffix("-") else {
            return nil
        }
        return Int(range.dropFirst(6).dropLast())
    }
}
