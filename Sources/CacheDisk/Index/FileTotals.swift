package import CacheValues

/// The sums over all files of the index.
package struct FileTotals: Hashable, Sendable {
    /// Bytes that the disk holds, attributes included.
    package var allocated: Int64 = 0
    /// Pinned entries, and the bytes of the files that a pin holds.
    package var pinned = Removal()
    /// Bytes of the files that were used and that no pin holds, see ``UsageClass``.
    package var used: Int64 = 0
    /// The names that files have beyond their first, and the bytes that as many files of their own
    /// would take.
    package var duplicates = Removal()

    static func + (left: FileTotals, right: FileTotals) -> FileTotals {
        FileTotals(
            allocated: left.allocated + right.allocated, pinned: left.pinned + right.pinned,
            used: left.used + right.used, duplicates: left.duplicates + right.duplicates)
    }

    static prefix func - (totals: FileTotals) -> FileTotals {
        FileTotals(
            allocated: -totals.allocated, pinned: totals.pinned.negated, used: -totals.used,
            duplicates: totals.duplicates.negated)
    }
}

extension Removal {
    fileprivate var negated: Removal { Removal(entries: -entries, bytes: -bytes) }
}
