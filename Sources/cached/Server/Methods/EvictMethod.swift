import CacheCore
import CacheWire
import NIOCore

/// `Evict`: evicts entries until the cache is as small as asked for.
struct EvictMethod: Sendable {
    private let bytes: Int64

    init(_ parameters: Methods.Evict.Parameters) throws(WireError) {
        guard parameters.toBytes >= 0 else {
            throw .invalidParameter(parameter: "toBytes", reason: "it must not be less than 0")
        }
        bytes = Int64(parameters.toBytes)
    }

    /// Replies once the files are removed.
    func run(in server: ServerContext, _ reply: @escaping @Sendable (ByteBuffer) -> Void) {
        server.cache.evict(toBytes: bytes, because: .requested) { evicted, failure in
            reply(server.replies.message(evicted, failure))
        }
    }
}
