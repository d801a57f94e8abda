import CacheCore
import CacheWire
import NIOCore

/// `CheckStore`: asks the store, and puts a small object there for the moment.
enum CheckStoreMethod {
    /// Blocks for some seconds at most.
    static func writeReply(from server: ServerContext, to output: inout ByteBuffer) {
        server.replies.write(Reply(reply(from: server)), to: &output)
    }

    private static func reply(from server: ServerContext) -> Methods.CheckStore.Reply {
        guard let check = server.cache.checkStore() else { return Methods.CheckStore.Reply() }
        return Methods.CheckStore.Reply(
            store: check.location, endpoint: check.endpoint, mode: check.mode,
            state: server.cache.statistics().store?.state,
            clockDifference: check.clockDifference.map { Int($0) },
            getMilliseconds: check.get?.inMilliseconds, putMilliseconds: check.put?.inMilliseconds,
            deleteMilliseconds: check.delete?.inMilliseconds,
            isCreationExclusive: check.isCreationExclusive, problem: check.problem)
    }
}

extension Duration {
    fileprivate var inMilliseconds: Double { (self / .microseconds(1)).rounded() / 1000 }
}
