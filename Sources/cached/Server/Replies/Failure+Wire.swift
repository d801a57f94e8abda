import CacheCore
import CacheWire

extension CacheWire.Failure {
    /// A failure of the cache in a reply.
    init(_ failure: CacheCore.Failure) {
        self.init(kind: failure.kind.rawValue, message: failure.message)
    }
}
