import CacheCore
import CacheFetching
import CacheValues

/// The result of a reaction to memory pressure.
struct MemoryRelief: Sendable, Hashable {
    /// Entries whose clean pages were dropped from memory, and their bytes. The files stay.
    var dropped = Removal.nothing
    /// The memory after that.
    var figures = MemoryFigures()
    /// Evicted entries, and the bytes their files had on the disk.
    var evicted = Removal.nothing
    /// Why entries were evicted, or why not.
    var reason = EvictionRule.Reason.requested
    /// The time from the report to the last unlink.
    var duration = Duration.zero
    /// The failure, if some entries could not be evicted.
    var failure: Failure?
}
