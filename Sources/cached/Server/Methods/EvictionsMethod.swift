import CacheCore
import CacheKey
import CacheValues
import CacheWire
import NIOCore

/// `Evictions`: the latest evicted images, and the reasons.
enum EvictionsMethod {
    static func writeReply(from server: ServerContext, to output: inout ByteBuffer) {
        let evictions = server.cache.evictions.map { CacheWire.EvictedEntry($0) }
        server.replies.write(Reply(Methods.Evictions.Reply(evictions: evictions)), to: &output)
    }
}

extension CacheWire.EvictedEntry {
    fileprivate init(_ entry: CacheCore.EvictedEntry) {
        self.init(
            url: entry.url ?? "", key: entry.key.description, bytes: Int(entry.bytes),
            at: Int(entry.at.rawValue), reason: CacheWire.EvictionReason(entry.reason))
    }
}

extension CacheWire.EvictionReason {
    fileprivate init(_ reason: CacheCore.EvictionReason) {
        self =
            switch reason {
            case .budget: .budget
            case .diskSpace: .diskSpace
            case .pressure: .pressure
            case .requested: .requested
            case .unused: .unused
            }
    }
}
