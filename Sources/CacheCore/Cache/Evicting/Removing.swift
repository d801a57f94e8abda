import CacheDisk
import CacheFetching
import CacheValues

/// The progress of unlinking victims, over all rounds of it.
struct Removing: Sendable {
    /// Why entries are evicted; `nil` if the limits of the cache are the reason.
    var reason: HistoryEvent.Reason?
    /// Once this many files in a row could not be unlinked, no others are tried: the cause is not the files.
    private static let failureLimit = 8

    private(set) var freed = Removal()
    /// The number of files that could not be unlinked.
    private(set) var stuck = 0
    private var stuckInARow = 0
    /// Whether trying more files has no purpose.
    var isInVain: Bool { stuckInARow >= Self.failureLimit }

    init(because reason: HistoryEvent.Reason? = nil) {
        self.reason = reason
    }

    mutating func went(_ victim: Victim) {
        freed += Removal(entries: victim.isEntry ? 1 : 0, bytes: victim.bytes)
        stuckInARow = 0
    }

    mutating func stayed() {
        stuck += 1
        stuckInARow += 1
    }

    /// Makes the removal end without trying more files.
    mutating func giveUp() {
        stuckInARow = Self.failureLimit
    }
}
