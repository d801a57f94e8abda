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
    /// The number of spared entries that can still be skipped.
    package var steps = 16 * 1024
}
