/// The sums over all files of the index.
package struct FileTotals: Hashable, Sendable {
    /// Bytes that the disk holds, attributes included.
    package var allocated: Int64 = 0
    /// Pinned entries, and the bytes of the files that a pin holds.
    package var pinned = Removal()
    /// The names that files have beyond their first, and the bytes that as many files of their own
    /// would take.
    package var duplicates = Removal()

    static func + (left: FileTotals, right: FileTotals) -> FileTotals {
        FileTotals(
            allocated: left.allocated + right.allocated, pinned: left.pinned + right.pinned,
            duplicates: left.duplicates + right.duplicates)
    }

    static prefix func - (totals: FileTotals) -> FileTotals {
        FileTotals(
            allocated: -totals.allocated, pinned: totals.pinned.negated,
            duplicates: totals.duplicates.negated)
    }
}

extension Removal {
    fileprivate var negated: Removal { Removal(entries: -entries, bytes: -bytes) }
}
