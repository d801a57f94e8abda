/// The ends of the order of use of one part, and how far the search for victims has come in it. The
/// order itself is a list that runs through the entries.
struct UseOrder {
    var oldest = Index.none
    var newest = Index.none
    /// The last entry that the search for victims skipped. All entries up to it are in ``passed``.
    /// `none` if the search begins at the oldest entry.
    var lastPassed = Index.none
    var passed = EvictionCursor()
    /// The number of neighbours whose times of use contradict the order.
    var inversions = 0

    /// The next search for victims begins at the oldest entry.
    mutating func restartSearch() {
        lastPassed = Index.none
        passed = EvictionCursor()
    }
}
