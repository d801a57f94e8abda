package import CacheDisk
package import CacheKey
package import CacheValues

/// The whole state of the cache, and all of its decisions. The state is pure: no I/O, no clock, no lock.
///
/// Each event is one function, named after the event. It appends the work and the notices that
/// follow from it to the effects. The owner calls it under a lock and carries the effects out. The
/// parts below do not know each other. Only the events know more than one of them:
///
///     Catalog              the known entries, and how far they can be trusted
///     Downloads            one download for each key, and its phase
///     Waiters              the callers, and the images they wait for
///     TransferScheduler    the order in which downloads start
///     SpaceLedger          the bytes on the disk, and the bytes reserved
///     NegativeCache        the reasons why recent attempts failed
///     NoStoreGrace         images that must not be stored, and when each is removed
///     ChangeFeed, Counters news for observers, and figures for administrators
///     StoreState           the store that several machines share, if there is one
package struct CacheState: ~Copyable, Sendable {
    package var catalog = Catalog()
    package var downloads = Downloads()
    package var waiters: Waiters
    package var scheduler: TransferScheduler
    package var space: SpaceLedger
    package var failures = NegativeCache()
    package var noStoreGrace = NoStoreGrace()
    /// The derived images that wait, by the keys of their originals.
    package var variants: [CacheKey: Set<CacheKey>] = [:]
    package var changes = ChangeFeed()
    package var counters = Counters()
    /// `nil` without a store.
    package var store: StoreState?
    package private(set) var retry: RetryPolicy
    /// The maximum number of images being published at once. At this number, no further download starts.
    package let publishingLimit: Int
    /// Whether the cache is shutting down. No new download starts then.
    package private(set) var isDraining = false
    private var lastID: UInt64 = 0

    package init(
        transferLimit: Int, originLimit: Int = .max, budget: Budget = .unlimited,
        retry: RetryPolicy = .once, publishingLimit: Int = .max, detachedLimit: Int = 200_000,
        store: StorePolicy? = nil, naming: IgnoredQueries = IgnoredQueries()
    ) {
        self.store = store.map { StoreState($0, naming) }
        waiters = Waiters(detachedLimit: detachedLimit)
        scheduler = TransferScheduler(limit: transferLimit, originLimit: originLimit)
        space = SpaceLedger(budget: budget)
        self.retry = retry
        self.publishingLimit = publishingLimit
    }

    package mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// The configuration has changed. Failures are forgotten, because a new setting can be the remedy.
    package mutating func configured(
        transferLimit: Int, originLimit: Int, retry: RetryPolicy, _ effects: inout Effects
    ) {
        self.retry = retry
        for kind in Failure.Kind.allCases {
            for key in failures.forgetAll(kind) { changed(key, &effects) }
        }
        scheduler.limitsSet(transferLimit, originLimit: originLimit)
        startTransfers(&effects)
    }

    /// The answer for a key has changed.
    package mutating func changed(_ key: CacheKey, _ effects: inout Effects) {
        if changes.note(key) { effects.notices.append(.changesArrived) }
        guard !variants.isEmpty, let variants = variants[key] else { return }
        // Their progress is that of their original.
        for variant in variants where changes.note(variant) {
            effects.notices.append(.changesArrived)
        }
    }

    /// The cache begins to shut down. Downloads stop, staged images are still published, and all
    /// other waits end with ``Failure/shuttingDown``.
    package mutating func drainBegan(_ effects: inout Effects) {
        isDraining = true
        for (key, flight) in downloads.all where !flight.isPublishing {
            endFlight(key, &effects)
            if flight.phase.isRunning {
                cancel(key, flight, discardsPartial: false, &effects)
            }
            settle(key, flight.waiters, .shuttingDown, &effects)
        }
    }

    /// When something has to be done because time passes: a pause ends, a caller's time is over, or running downloads are
    /// measured. `nil` if there is nothing.
    package func nextCheck(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        [scheduler.nextCheck(now: now), waiters.nextDeadline].compactMap(\.self).min()
    }

    /// Time has passed, so the throttling of downloads may have ended.
    package mutating func timePassed(now: ContinuousClock.Instant, _ effects: inout Effects) {
        if scheduler.isThrottlingOver(now: now) { startTransfers(&effects) }
    }

    /// Checks every invariant of the state. For tests.
    package func checkInvariants() {
        catalog.checkInvariants()
        downloads.checkInvariants()
        scheduler.checkInvariants(running: downloads.all.count { $0.value.hasSlot })
        space.checkInvariants()
        checkWaiters()
        checkReservations()
    }

    private func checkWaiters() {
        for (key, flight) in downloads.all {
            for id in flight.waiters {
                precondition(
                    waiters[id]?.pending.contains(key) == true,
                    "the download of \(key) has a waiter that does not wait for it")
            }
        }
        for (id, waiter) in waiters.all {
            for key in waiter.pending {
                precondition(
                    downloads[key]?.waiters.contains(id) == true,
                    "a caller waits for \(key), but the download does not list it")
            }
        }
        let detached = downloads.all.count { $0.value.detached != nil }
        precondition(
            detached == waiters.detached.count,
            "\(detached) downloads are detached, but \(waiters.detached.count) are counted")
        let pending = waiters.all.reduce(0) { $0 + $1.value.pending.count }
        precondition(
            pending == waiters.interests.count,
            "callers wait for \(pending) images, but \(waiters.interests.count) are counted")
    }

    private func checkReservations() {
        let holders = downloads.all.filter { $0.value.hasSpace }
        precondition(
            Set(holders.map(\.key)) == space.holders,
            "the ledger and the downloads disagree about the holders of space")
        precondition(
            holders.reduce(0) { $0 + $1.value.intake.reserved } == space.reserved,
            "the ledger and the downloads disagree about reserved bytes")
        precondition(
            holders.reduce(0) { $0 + $1.value.intake.received } == space.written,
            "the ledger and the downloads disagree about written bytes")
    }
}
