import CacheWire
import TestSupport

extension VarlinkConnection {
    /// Receives the next reply.
    func nextReply(within limit: Duration = .patience) async throws -> AnyReply {
        try AnyReply(try await receiveText(within: limit))
    }

    /// Sends a call, adding the NUL, and returns the next reply.
    func ask(_ message: String, within limit: Duration = .patience) async throws -> AnyReply {
        try AnyReply(try await call(message, within: limit))
    }

    /// Receives replies of a stream until one has a matching item, and returns that item.
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

    /// Receives replies of a stream up to the last, and returns that one.
    func lastReply(within limit: Duration = .patience) async throws -> AnyReply {
        while true {
            let answer = try await nextReply(within: limit)
            if answer.continues != true { return answer }
        }
    }
}
