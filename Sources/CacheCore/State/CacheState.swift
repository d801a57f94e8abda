internal import CacheKey

/// Everything the cache knows, and every decision it takes. Pure: no I/O, no clock, no lock.
///
/// Each event is one function, named for what happened, and returns what has to be done about it. The
/// owner calls it under its lock and sees to the work. Split over files by subject:
/// `+Lookup` for questions and what the directory shows, `+Interests` for callers, `+Transfers` for
/// downloads, `+GivingWay` for prefetches in the way, `+Failures` and `+Revalidation` for their other ends, `+SpaceLedger` for the budget, `+Eviction` for
/// who has to go, `+AccessTimes` for recency, `+Pins` and `+Removal` for what a person asks, `+Changes`
/// for what observers hear.
struct CacheState: ~Copyable, Sendable {
    /// How far the index may be believed.
    enum IndexValidity: Sendable {
        /// The first scan is running: what is in the index is so, what is not may still be there.
        case scanning
        /// The directory is read and watched.
        case whole
        /// Changes were lost or can't be watched: every name has to be looked at.
        case blind
    }

    /// Downloads under way at once, at most, as configured.
    let configuredTransferLimit: Int

    var index = Index()
    var partials = Partials()
    var budget: Budget
    var room = SpaceLedger()
    var uses = AccessTimes()
    var flights = Shards<CacheKey, Flight>()
    var waiters: [WaiterID: Waiter] = [:]
    var holds: DetachedQuota
    var queue = TransferQueue()
    var prefetches = Preemption()
    var slots: TransferSlots
    let retry: RetryPolicy
    var retries = RetrySchedule()
    var failures = NegativeCache()
    /// Entries that may not be kept, and when they have to go.
    var noStoreGrace: [CacheKey: UnixTime] = [:]
    var trust = IndexValidity.scanning
    var isScanning = false
    /// Changes were lost during the first scan, or another directory lies at the path, and nothing was read to
    /// its end since.
    var isPartlyRead = false
    /// Changes were lost since the running scan began, so it has to be repeated.
    var lostChanges = false
    /// How often changes were lost.
    var losses = 0
    /// Names that changed and were not looked at since.
    var dirtyNames: Set<CacheKey> = []
    /// Entries whose file could not be removed, the last time that was tried.
    var unremovable: Set<CacheKey> = []
    var epochs = ChangeEpochs()
    var changes = ChangeFeed()
    var counters = Counters()
    /// No new downloads: the end is near.
    var isDraining = false
    /// Images being published; each has a file open.
    var publishing = 0
    /// With so many waiting for the disk, no further download begins.
    let publishingLimit: Int
    private var lastID: UInt64 = 0

    init(
        transferLimit: Int, hostLimit: Int = .max, budget: Budget = .unlimited,
        retry: RetryPolicy = .once, publishingLimit: Int = .max, detachedLimit: Int = 200_000
    ) {
        self.publishingLimit = publishingLimit
        holds = DetachedQuota(limit: detachedLimit)
        configuredTransferLimit = transferLimit
        self.budget = budget
        self.retry = retry
        slots = TransferSlots(limit: transferLimit, hostLimit: hostLimit)
    }

    /// Neither is known how much there is, nor what was used least recently: nothing is evicted.
    var isUnread: Bool { trust == .scanning || isPartlyRead }

    /// Downloads handed to the transfer loop.
    var running: Int { slots.running }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Checks everything that must always hold; for tests.
    func checkInvariants() {
        index.checkInvariants { [flights, room] in
            flights.contains($0) || room.unevictable.contains(.entry($0))
        }
        for (key, flight) in flights {
            precondition(flight.isWanted || flight.phase == .publishing, "\(key) flies for nobody")
            for waiter in flight.waiters {
                precondition(
                    waiters[waiter]?.pending.contains(key) == true,
                    "\(key) is wanted by a caller who does not wait for it")
            }
        }
        let held = flights.values.count(where: \.isDetached)
        precondition(held == holds.count, "\(held) downloads are held, but \(holds.count) counted")
        let active = flights.values.count { $0.phase.isRunning }
        let running = slots.running
        precondition(active <= running, "\(active) downloads, but \(running) counted")
        precondition(
            running <= configuredTransferLimit, "\(running) downloads, over \(slots.limit)")
        queue.checkInvariants(slots)
        checkRoom()
    }
}

/// Counts since the start.
struct Counters: Sendable {
    /// Wishes for images that were there.
    var hits = 0
    /// Wishes for images that were not, or that the origin had to confirm first.
    var misses = 0
    /// Misses that joined a download already under way.
    var joined = 0
    /// Images published.
    var published = 0
    /// Entries the origin confirmed.
    var revalidated = 0
    /// Wishes answered with a stale entry because the origin failed.
    var staleAnswers = 0
    /// Downloads that failed in the end.
    var failed = 0
    /// Attempts that failed and were followed by another.
    var retried = 0
    /// Wishes answered with a failure that was remembered.
    var failuresRepeated = 0
    /// Entries removed because their origin says they are gone, or may not be kept.
    var withdrawn = Removal()
    /// Bytes of image received.
    var bytesReceived: Int64 = 0
    /// Entries removed because somebody asked.
    var removed = 0
    /// Entries a verification found to be damaged.
    var damaged = 0
    /// Entries that had to go.
    var evicted = Removal()
    /// Entries whose pages were dropped from memory.
    var dropped = Removal()
    /// Downloads refused because there is no room for them.
    var refused = 0
}
