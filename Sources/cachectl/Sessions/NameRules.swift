import CacheKey
import CacheWire

/// The parameters of queries that do not count in names, for a command that also works without a daemon.
enum NameRules {
    /// The rules of the daemon that answers, else those of the environment.
    ///
    /// - Parameter socket: the value of `--socket`. If it is set, a daemon must answer there.
    static func find(socket: String?) throws -> IgnoredQueries {
        if let rules = try ask(socket) { return try parsed(rules) }
        return try parsed(try Environment.current()["CACHED_IGNORE_QUERY"] ?? "")
    }

    /// `nil` if no daemon answers within a second.
    private static func ask(_ socket: String?) throws(ClientError) -> String? {
        do throws(ClientError) {
            var replies = try Client(socket: socket).stream(Methods.Where.self, .init())
            guard try replies.isReady(within: 1000) else { return nil }
            return try replies.next().map { $0.ignoreQuery ?? "" }
        } catch {
            guard socket == nil else { throw error }
            return nil
        }
    }

    private static func parsed(_ text: String) throws(CommandFailure) -> IgnoredQueries {
        do {
            return try IgnoredQueries(text)
        } catch {
            throw CommandFailure(status: .usage, message: "CACHED_IGNORE_QUERY: \(error)")
        }
    }
}
