package import CacheValues

/// When an eviction ends: as soon as the cache has no more than ``bytes`` and ``entries``, or at
/// ``fetchedBefore``. An eviction that a user requests compares only the bytes of existing files.
package struct EvictionGoal: Hashable, Sendable {
    /// Bytes held or reserved.
    package var bytes: Int64
    /// Entries held or in download.
    package var entries = Int.max
    /// If set, the eviction also ends at the first victim that was fetched at this time or later.
    var fetchedBefore: UnixTime?

    package init(bytes: Int64, entries: Int = .max, fetchedBefore: UnixTime? = nil) {
        (self.bytes, self.entries, self.fetchedBefore) = (bytes, entries, fetchedBefore)
    }
}
