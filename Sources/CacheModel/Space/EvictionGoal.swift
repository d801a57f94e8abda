/// Where an eviction ends: at or below both numbers.
package struct EvictionGoal: Hashable, Sendable {
    /// Bytes held or reserved.
    package var bytes: Int64
    /// Entries held or on their way.
    package var entries = Int.max

    package init(bytes: Int64, entries: Int = .max) {
        (self.bytes, self.entries) = (bytes, entries)
    }
}
