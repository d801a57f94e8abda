/// The goal of an eviction, which ends when both numbers are at or below it.
package struct EvictionGoal: Hashable, Sendable {
    /// Bytes held or reserved.
    package var bytes: Int64
    /// Entries held or in download.
    package var entries = Int.max

    package init(bytes: Int64, entries: Int = .max) {
        (self.bytes, self.entries) = (bytes, entries)
    }
}
