import CacheCore
import CacheFetching
import CacheValues

/// The parts of a cache that give memory back. Each `completion` is called once, from any thread.
protocol RelievedCache: Sendable {
    /// Whether the files are kept in memory, so that only their removal frees it.
    var isInMemory: Bool { get }

    /// Halves the number of concurrent downloads for a minute.
    func throttleDownloads()

    func closeIdleConnections()

    /// Drops the clean pages of the least recently used entries, up to this share of all bytes.
    func dropPages(
        ofColdest share: Double, completion: @escaping @Sendable (PageDrop) -> Void)

    /// Evicts the least recently used entries until the cache holds `bytes`, or the next one was fetched too late.
    func evict(
        toBytes bytes: Int64, fetchedBefore limit: UnixTime?,
        completion: @escaping @Sendable (Removal, Failure?) -> Void)
}

extension Cache: RelievedCache {
    func evict(
        toBytes bytes: Int64, fetchedBefore limit: UnixTime?,
        completion: @escaping @Sendable (Removal, Failure?) -> Void
    ) {
        evict(toBytes: bytes, fetchedBefore: limit, because: .pressure, completion: completion)
    }
}
