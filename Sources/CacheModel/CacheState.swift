package import CacheKey

/// Everything the cache knows, and every decision it takes. Pure: no I/O, no clock, no lock.
///
/// Each event is one function, named for what happened, and appends to the effects what has to be done about
/// it. The owner calls it under its lock and carries the effects out. The parts below know nothing of each
/// other; only the events here know two of them:
///
///     Catalog              which entries there are, and whether that may be believed
///     Downloads            one download a key, and what it is doing
///     Waiters              who waits for which
///     TransferScheduler    which download starts next
///     SpaceLedger          what the disk holds, and what is reserved
///     NegativeCache        why the latest attempts failed
///     NoStoreGrace         what must not be stored, and when it goes
///     ChangeFeed, Counters what observers and administrators hear
package struct CacheState: ~Copyable, Sendable {
    package var catalog = Catalog()
    package var downloads = Downloads()
    package var waiters: Waiters
    package var scheduler: TransferScheduler
    package var space: SpaceLedger
    package var failures = NegativeCache()
    package var noStoreGrace = NoStoreGrace()
    package var changes = ChangeFeed()
    package var counters = Counters()
    package let retry: RetryPolicy
    /// Images being published, at most: with so many, no further download starts.
    package let publishingLimit: Int
    /// The end is near: no new downloads.
    package private(set) var isDraining = false
    private var lastID: UInt64 = 0

    package init(
        transferLimit: Int, hostLimit: Int = .max, budget: Budget = .unlimited,
        retry: RetryPolicy = .once, publishingLimit: Int = .max, detachedLimit: Int = 200_000
    ) {
        waiters = Waiters(detachedLimit: detachedLimit)
        scheduler = TransferScheduler(limit: transferLimit, hostLimit: hostLimit)
        space = SpaceLedger(budget: budget)
        self.retry = retry
        self.publishingLimit = publishingLimit
    }

    package mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// What is said of a key has changed.
    package mutating func changed(_ key: CacheKey, _ effects: inout Effects) {
        if changes.note(key) { effects.notices.append(.changesArrived) }
    }

    /// The end is near: downloads stop, staged images are still published, and every caller that waits for
    /// anything else hears that the cache shuts down.
    package mutating func drainBegan(_ effects: inout Effects) {
        isDraining = true
        for (key, flight) in downloads.all where !flight.isPublishing {
            endFlight(key, &effects)
            if flight.phase.isRunning {
                effects.work.append(.cancelTransfer(flight.id, key, discardsPartial: false))
            }
            settle(key, flight.waiters, .shuttingDown, &effects)
        }
    }

    /// Time has passed: for open files whose space was missing, and for fewer downloads at once.
    package mutating func timePassed(now: ContinuousClock.Instant, _ effects: inout Effects) {
        space.timePassed(now: now)
        if scheduler.isThrottlingOver(now: now) { startTransfers(&effects) }
    }

    /// Checks everything that must always hold; for tests.
    package func checkInvariants() {
        catalog.checkInvariants { [downloads, space] in
            downloads.contains($0) || space.unevictable.contains(.entry($0))
        }
        downloads.checkInvariants()
        scheduler.checkInvariants(running: downloads.all.count { $0.value.phase.isRunning })
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
                    "a caller waits for \(key), whose download does not know it")
            }
        }
        let detached = downloads.all.count { $0.value.detached != nil }
        precondition(
            detached == waiters.detached.count,
            "\(detached) downloads are detached, \(waiters.detached.count) are counted")
    }

    private func checkReservations() {
        let holders = downloads.all.filter { $0.value.hasSpace }
        precondition(
            Set(holders.map(\.key)) == space.holders,
            "other downloads have space than the ledger says")
        precondition(
            holders.reduce(0) { $0 + $1.value.intake.reserved } == space.reserved,
            "a reservation is lost")
        precondition(
            holders.reduce(0) { $0 + $1.value.intake.received } == space.written,
            "written bytes are lost")
    }
}
