import CacheValues

/// A search for victims. It ends after a bounded number of steps, so that the lock is held only
/// briefly, and after a bounded number of victims, so that other work gets its turn.
package struct VictimSearch: Sendable {
    /// The maximum number of files unlinked in one slice.
    package static let slice = 128

    package var victims: [Victim] = []
    package var limit = Self.slice
    /// If set, the search ends in each part at an entry that was fetched at this time or later.
    var fetchedBefore: UnixTime?
    /// How far the search has come.
    package var position = VictimPosition()
    /// Whether entries are left out that callers were given, and how many were.
    private(set) var sparesGiven = true
    var given = 0

    /// There is no other victim. Returns whether the search begins again, with the entries that it left out.
    mutating func takesGiven() -> Bool {
        guard given > 0, sparesGiven else { return false }
        (sparesGiven, position) = (false, VictimPosition())
        return true
    }
}
