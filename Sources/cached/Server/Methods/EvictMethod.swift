import CacheCore
import CacheFetching
import CacheValues
import CacheWire
import NIOCore

/// `Evict`: evicts entries until the cache is as small as asked for, or all that a filter chooses.
enum EvictMethod: Sendable {
    case toBytes(Int64)
    case chosen(ListFilter)

    init(_ parameters: Methods.Evict.Parameters) throws(WireError) {
        switch (parameters.toBytes, try ListFilter(choosing: parameters)) {
        case (let bytes?, nil) where bytes >= 0: self = .toBytes(Int64(bytes))
        case (nil, let filter?): self = .chosen(filter)
        default:
            throw .invalidParameter(
                parameter: "toBytes", reason: "0 or more is needed, or a filter in its place")
        }
    }

    /// Replies once the files are removed.
    func run(in server: ServerContext, _ reply: @escaping @Sendable (ByteBuffer) -> Void) {
        let completion: @Sendable (Removal, CacheValues.Failure?) -> Void = {
            reply(server.replies.message($0, $1))
        }
        switch self {
        case .toBytes(let bytes):
            server.cache.evict(toBytes: bytes, because: .requested, completion: completion)
        case .chosen(let filter):
            server.cache.evict(
                filter.choice(in: server.cache), because: .requested, completion: completion)
        }
    }
}
