/// A request as an origin has received it.
public struct OriginRequest: Sendable {
    /// How the origin's answer to a request went.
    public enum Outcome: Hashable, Sendable {
        /// The script is still running.
        case answering
        /// The script came to its end.
        case answered
        /// The client closed the connection before that.
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

    /// Takes apart a request's head without the empty line at its end; `nil` if it is not HTTP/1.
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
