import CacheDisk
import CacheFetching
internal import CacheKey
import CacheModel
public import CacheValues

/// Gauges and counters of a cache.
public struct Statistics: Sendable {
    /// Entries in the cache.
    public let entries: Int
    /// Bytes on the disk for entries and partials, attributes included.
    public let bytesUsed: Int64
    /// Bytes the cache may use: the budget, or less if the free space is close to its minimum.
    public let bytesAllowed: Int64
    /// Bytes the cache may use by its configuration.
    public let bytesBudget: Int64
    /// Bytes of the file system that the cache leaves free.
    public let bytesMinimumFree: Int64
    /// Bytes reserved for running downloads.
    public let bytesReserved: Int64
    /// Pinned entries, and their bytes on the disk.
    public let pinned: Removal
    /// The names that files have beyond their first, and the bytes that as many files of their own would take.
    public let duplicates: Removal
    /// Partials that no download is writing to.
    public let partials: Int
    /// Downloads that have a slot.
    public let transfersRunning: Int
    /// Downloads that wait for a slot.
    public let transfersQueued: Int
    /// Downloads that have a slot, of each user who has any.
    public let runningByUser: [UserID: Int]
    /// Images that callers wait for, of each user who has any.
    public let waitingByUser: [UserID: Int]
    /// Whether the path leads to the directory that was opened.
    public internal(set) var isDirectoryInPlace = true
    /// Whether the directory can be written to.
    public internal(set) var isDirectoryWritable = true
    /// Whether the first scan is complete and the directory is watched, so that the numbers cover every entry.
    public let isWhole: Bool
    let counters: Counters
    /// `nil` without a store.
    public let store: StoreStatistics?

    init(_ state: borrowing CacheState) {
        entries = state.disk.index.count
        bytesUsed = state.disk.bytesUsed
        bytesAllowed = state.disk.space.ceiling
        bytesBudget = state.disk.space.budget.maximumBytes
        bytesMinimumFree = state.disk.space.budget.minimumFree
        bytesReserved = state.disk.space.reserved
        pinned = state.disk.index.pinned
        duplicates = state.disk.index.totals.duplicates
        partials = state.disk.space.partials.count
        transfersRunning = state.fetching.scheduler.running
        transfersQueued = state.fetching.downloads.queued
        runningByUser = state.fetching.scheduler.runningByUser
        waitingByUser = state.fetching.waiters.interests.counts
        isWhole = state.disk.validity == .complete
        counters = state.fetching.counters
        store = state.fetching.store.map { StoreStatistics($0) }
    }

    // Counts since the start; `Counters` explains each.

    public var hits: Int { counters.hits }
    public var misses: Int { counters.misses }
    public var joined: Int { counters.joined }
    public var published: Int { counters.published }
    public var failed: Int { counters.failed }
    public var retried: Int { counters.retried }
    /// Images that were derived from others.
    public var derived: Int { counters.derived }
    public var failuresRepeated: Int { counters.failuresRepeated }
    public var revalidated: Int { counters.revalidated }
    public var staleAnswers: Int { counters.staleAnswers }
    public var withdrawn: Removal { counters.withdrawn }
    public var removed: Int { counters.removed }
    public var damaged: Int { counters.damaged }
    public var bytesReceived: Int64 { counters.bytesReceived }
    public var evicted: Removal { counters.evicted }
    public var dropped: Removal { counters.dropped }
    public var refused: Int { counters.refused }
    /// Failed downloads by the word for their kind in the protocol.
    public var failures: [String: Int] {
        Dictionary(uniqueKeysWithValues: counters.failures.map { ($0.key.rawValue, $0.value) })
    }

    package var firstByteTimes: Distribution { counters.firstByteTimes }
    package var downloadTimes: Distribution { counters.downloadTimes }
    package var publishTimes: Distribution { counters.publishTimes }
    package var imageSizes: Distribution { counters.imageSizes }
}
