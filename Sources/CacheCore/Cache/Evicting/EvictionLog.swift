public import CacheKey
public import CacheValues
internal import Synchronization

/// Remembers the last evictions, for people who ask why an image is missing.
final class EvictionLog: Sendable {
    private let evicted = Mutex<[EvictedEntry]>([])

    /// The greatest number that is remembered, and how many of those that are evicted together. Their URLs are read from
    /// the files, which costs a quarter of an unlink.
    static let limit = 64
    static let sample = 16

    func append(_ entries: [EvictedEntry]) {
        guard !entries.isEmpty else { return }
        evicted.withLock { evicted in
            evicted.removeFirst(max(evicted.count + entries.count - Self.limit, 0))
            evicted += entries
        }
    }

    /// The newest last.
    var entries: [EvictedEntry] { evicted.withLock { $0 } }
}

/// An entry that was evicted.
public struct EvictedEntry: Sendable, Hashable {
    /// `nil` if it is not known.
    public let url: String?
    public let key: CacheKey
    /// The bytes of the disk that it used.
    public let bytes: Int64
    public let at: UnixTime
    public let reason: EvictionReason
}

/// Why entries are evicted.
public enum EvictionReason: String, Sendable {
    /// The cache has more bytes or entries than it may have.
    case budget
    /// Less is free on the disk than has to stay free.
    case diskSpace
    /// Memory is short.
    case pressure
    /// A user asked for it.
    case requested
    /// Nobody used it for the longest time that the limits permit.
    case unused
}
