/// The goal of an eviction, which ends when both numbers are at or below it.
package struct EvictionGoal: Hashable, Sendable {
    /// Bytes held or reserved.
    package var bytes: Int64
    /// Entries held or in download.
    package var entries = Int.max
    /// If set, the eviction also ends at the first victim that was fetched at this time or later.
    package var fetchedBefore: UnixTime?

    package init(bytes: Int64, entries: Int = .max, fetchedBefore: UnixTime? = nil) {
        (self.bytes, self.entries, self.fetchedBefore) = (bytes, entries, fetchedBefore)
    }
}
