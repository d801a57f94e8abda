package import CacheDisk
package import CacheKey
package import CacheValues

/// The fetching half of the state: downloads, the callers that wait for them, and when each download runs.
///
/// It owns the disk half below it: downloads ask that for facts and space, and tell it what they write. It does not
/// know the seam above it: an event at which an entry comes or goes is one of `CacheState`, which tells this half what
/// follows for downloads and callers. Everybody can read the parts, and only the events in this folder change them.
///
///     Downloads            one download for each key, and its phase
///     Waiters              the callers, and the images they wait for
///     TransferScheduler    the order in which downloads start
///     NegativeCache        the reasons why recent attempts failed
///     StoreState           the store that several machines share, if there is one
///     ChangeFeed           news for observers
package struct FetchingState: ~Copyable, Sendable {
    package var disk: DiskState
    package internal(set) var downloads = Downloads()
    package internal(set) var waiters: Waiters
    package internal(set) var scheduler: TransferScheduler
    package internal(set) var failures = NegativeCache()
    /// The derived images that wait, by the keys of their originals.
    package internal(set) var variants: [CacheKey: Set<CacheKey>] = [:]
    /// `nil` without a store.
    package internal(set) var store: StoreState?
    package internal(set) var changes = ChangeFeed()
    /// Figures for administrators, which every event may count in.
    package var counters = Counters()
    private(set) var retry: RetryPolicy
    /// Whether an entry stays although its origin has deleted the image.
    private(set) var keepsGone: Bool
    /// The maximum number of images being published at once. At this number, no further download starts.
    let publishingLimit: Int
    /// Whether the cache is shutting down. No new download starts then.
    package private(set) var isDraining = false
    private var lastID: UInt64 = 0

    package init(
        transferLimit: Int, originLimit: Int = .max, budget: Budget = .unlimited,
        retry: RetryPolicy = .once, publishingLimit: Int = .max, detachedLimit: Int = 200_000,
        store: StorePolicy? = nil, naming: IgnoredQueries = IgnoredQueries(),
        keepsGone: Bool = false, permitsPrefetches: Bool = true
    ) {
        self.keepsGone = keepsGone
        self.store = store.map { StoreState($0, naming) }
        waiters = Waiters(detachedLimit: detachedLimit)
        scheduler = TransferScheduler(
            limit: transferLimit, originLimit: originLimit, permitsPrefetches: permitsPrefetches)
        disk = DiskState(budget: budget)
        self.retry = retry
        self.publishingLimit = publishingLimit
    }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// The configuration has changed. Failures are forgotten, because a new setting can be the remedy.
    package mutating func configured(
        transferLimit: Int, originLimit: Int, retry: RetryPolicy, naming: IgnoredQueries,
        keepsGone: Bool = false, permitsPrefetches: Bool = true, _ effects: inout Effects
    ) {
        (self.retry, self.keepsGone) = (retry, keepsGone)
        if store != nil {
            store?.naming = naming
            storeMayBeInReach()
            effects.work.append(.wakeStoreWriter)
        }
        for kind in Failure.Kind.allCases { forgetFailures(kind, &effects) }
        scheduler.limitsSet(
            transferLimit, originLimit: originLimit, permitsPrefetches: permitsPrefetches)
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
            abandon(key, flight, &effects)
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

    /// Memory is critically short, so fewer downloads run until `end`.
    package mutating func memoryBecameShort(until end: ContinuousClock.Instant) {
        scheduler.throttle(until: end)
    }

    /// Takes the table of downloads out if it has become too large for them. The caller releases it.
    package mutating func takeOversizedTable() -> [CacheKey: Flight]? {
        downloads.takeOversizedTable()
    }

    // MARK: Observers

    /// An observer wants to hear of changes from now on, or no longer.
    package mutating func observed(_ isObserved: Bool) { changes.isObserved = isObserved }

    /// The keys that changed since the observer last asked.
    package mutating func takeChanges() -> Set<CacheKey> { changes.take() }

    /// Those of them whose downloads have ended. The others stay.
    package mutating func takeEnds() -> Set<CacheKey> { changes.takeEnds() }

    // MARK: Invariants

    /// Checks every invariant of both halves. For tests.
    package func checkInvariants() {
        disk.checkInvariants()
        downloads.checkInvariants()
        scheduler.checkInvariants(running: downloads.all.count { $0.value.hasSlot })
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
            pending == waiters.interests.total,
            "callers wait for \(pending) images, but \(waiters.interests.total) are counted")
    }

    private func checkReservations() {
        for key in disk.space.reservations.keys {
            precondition(
                downloads[key].map { $0.phase.isRunning || $0.isPublishing } == true,
                "space is reserved for \(key), which is not on its way")
        }
        let received = disk.space.reservations.keys.reduce(0) { [downloads] in
            $0 + (downloads[$1]?.intake.received ?? 0)
        }
        precondition(
            received == disk.space.written,
            "the ledger and the downloads disagree about written bytes")
    }
}
