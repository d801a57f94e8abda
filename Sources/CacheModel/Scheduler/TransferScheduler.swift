internal import CacheKey

/// Decides which download starts next, which prefetch stops for it, and when a failed one is tried again.
///
/// Invariant: a free slot and a waiting download that may have it never coexist for longer than one event.
package struct TransferScheduler: ~Copyable, Sendable {
    /// Downloads at once, at most, as configured.
    let limit: Int
    private var queue = TransferQueue()
    private var slots: TransferSlots
    private var preemption = Preemption()
    private var retries = RetrySchedule()
    /// Until when fewer downloads run, because memory was short.
    private var throttledUntil: ContinuousClock.Instant?

    init(limit: Int, hostLimit: Int) {
        self.limit = limit
        slots = TransferSlots(limit: limit, hostLimit: hostLimit)
    }

    /// Downloads that have a slot.
    package var running: Int { slots.running }

    /// Whether no download waits for a slot.
    var isIdle: Bool { queue.isEmpty }

    /// When the next pause ends; `nil` if no download pauses.
    package var nextRetry: ContinuousClock.Instant? { retries.earliest }

    // MARK: Starting

    /// A waiter waits for a queued download.
    mutating func enqueue(_ ticket: Ticket, _ flow: FlowKey, atFront: Bool = false) {
        queue.append(ticket, flow, atFront: atFront)
    }

    mutating func dequeue(_ ticket: Ticket, _ flow: FlowKey) {
        queue.remove(ticket, flow, slots)
    }

    /// The download to start next, if a slot is free for it. ``started(_:_:)`` or ``dequeue(_:_:)`` of all
    /// its tickets follows.
    mutating func next() -> (key: CacheKey, flow: FlowKey)? { queue.next(slots) }

    mutating func started(_ id: FlightID, _ flow: FlowKey) { slots.take(id, flow) }

    /// A download was told to stop. It has its slot until it does.
    mutating func stops(_ id: FlightID) { slots.stops(id) }

    /// A transfer is over, however it ended.
    mutating func ended(_ id: FlightID) { queue.slotFreed(at: slots.release(id), slots) }

    /// A response began, over a connection that may be shared with other downloads.
    mutating func answered(_ id: FlightID, isMultiplexed: Bool) {
        guard let origin = slots.answered(id, isMultiplexed: isMultiplexed) else { return }
        queue.limitRose(at: origin, slots)
    }

    // MARK: Preemption

    /// This download runs, and may be no more than a prefetch.
    mutating func mayBePrefetch(_ key: CacheKey, _ origin: Origin) {
        preemption.insert(key, origin)
    }

    mutating func isNoPrefetch(_ key: CacheKey, _ origin: Origin) { preemption.remove(key, origin) }

    /// A prefetch that has to stop for a visible download, one after the other: none stops while a slot is
    /// about to become free anyway.
    ///
    /// - Parameter cost: what stopping a download costs; `nil` for one that is more than a prefetch.
    mutating func nextToPreempt(cost: (CacheKey) -> Preemption.Cost?) -> CacheKey? {
        guard !preemption.isEmpty, queue.isVisibleWaiting else { return nil }
        let candidates = preemption.candidates(cost)
        if !slots.isClearing,
            let client = queue.nextVisibleClient(slots, ifPreempting: candidates.count),
            slots.excess(for: client) > 0
        {
            return candidates.min { $0.cost < $1.cost }?.key
        }
        for (origin, here) in Dictionary(grouping: candidates, by: \.origin)
        where !slots.isClearing(origin) {
            if queue.nextBlockedVisibleClient(at: origin, slots, ifPreempting: here.count) != nil {
                return here.min { $0.cost < $1.cost }?.key
            }
        }
        return nil
    }

    // MARK: Retries

    /// A download pauses; whether its pause ends before all others.
    mutating func pauses(_ key: CacheKey, _ id: FlightID, until end: ContinuousClock.Instant)
        -> Bool
    {
        retries.add(key, id, at: end)
    }

    /// A download whose pause is over, if it still pauses until that instant.
    mutating func takeDue(now: ContinuousClock.Instant) -> RetrySchedule.Place? {
        retries.takeDue(now: now)
    }

    // MARK: Throttling

    /// Memory is critically short: for a while half as many downloads run at once.
    package mutating func throttle(until end: ContinuousClock.Instant) {
        slots.limit = max(1, limit / 2)
        throttledUntil = end
    }

    /// Time has passed; whether the throttling is over with it.
    mutating func isThrottlingOver(now: ContinuousClock.Instant) -> Bool {
        guard let end = throttledUntil, end <= now else { return false }
        throttledUntil = nil
        slots.limit = limit
        return true
    }

    /// How many prefetches, of all hosts and of this one, have to stop before a visible download of this
    /// client starts; for tests.
    func excess(for client: ClientID, at origin: Origin) -> (all: Int, host: Int) {
        (slots.excess(for: client), slots.excess(for: client, at: origin))
    }

    func checkInvariants(running active: Int) {
        precondition(active <= running, "\(active) downloads run, \(running) are counted")
        precondition(running <= limit, "\(running) downloads run, over the limit of \(limit)")
        queue.checkInvariants(slots)
    }
}
