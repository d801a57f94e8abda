internal import CacheKey

/// Decides which download starts next, which prefetch stops for it, and when a failed download is
/// retried.
///
/// Invariant: a free slot and a waiting download that can have it never coexist for longer than one
/// event.
package struct TransferScheduler: ~Copyable, Sendable {
    /// The configured maximum number of downloads at once.
    private(set) var limit: Int
    /// The highest ``limit`` so far. Downloads that began under it are not stopped for a lower one.
    private var highestLimit: Int
    var queue = TransferQueue()
    private(set) var slots: TransferSlots
    private var preemption = Preemption()
    var pace = TransferPace()
    private var retries = RetrySchedule()
    /// The time until which fewer downloads run because memory was short.
    private var throttledUntil: ContinuousClock.Instant?

    init(limit: Int, hostLimit: Int) {
        self.limit = limit
        highestLimit = limit
        slots = TransferSlots(limit: limit, hostLimit: hostLimit)
    }

    /// Downloads that have a slot.
    package var running: Int { slots.running }
    /// The running downloads of each user who has any.
    package var runningByUser: [UserID: Int] { slots.runningByUser }

    /// Whether no download waits for a slot.
    var isQueueEmpty: Bool { queue.isEmpty }

    /// The end of the next pause. `nil` if no download and no host pauses.
    package var nextRetry: ContinuousClock.Instant? {
        [retries.earliest, slots.pauses.earliest].compactMap(\.self).min()
    }

    // MARK: Starting

    /// A waiter waits for a queued download.
    mutating func enqueue(_ ticket: Ticket, _ flow: FlowKey, atFront: Bool = false) {
        queue.append(ticket, flow, atFront: atFront)
    }

    mutating func dequeue(_ ticket: Ticket, _ flow: FlowKey) {
        queue.remove(ticket, flow, slots)
    }

    /// The download to start next, if a slot is free for it. ``started(_:_:)`` follows, or
    /// ``dequeue(_:_:)`` of all its tickets.
    mutating func next() -> (key: CacheKey, flow: FlowKey)? { queue.next(slots) }

    mutating func started(_ id: FlightID, _ key: CacheKey, _ flow: FlowKey) {
        let hadNothingRunning = slots.hasNothingRunning(flow.client)
        slots.take(id, key, flow)
        if hadNothingRunning, !slots.hasNothingRunning(flow.client) {
            queue.clientStarted(flow.client, slots)
        }
        // Another user has less than this one now, and so may use slots of the host that are reserved.
        if slots.usage(at: flow.origin).isShared { queue.slotFreed(at: flow.origin, slots) }
    }

    /// A download is stopping. It keeps its slot until it has stopped.
    mutating func stops(_ id: FlightID) { slots.stops(id) }

    /// A transfer has ended, by success, failure or cancellation.
    mutating func ended(_ id: FlightID) {
        pace.forget(id)
        queue.slotFreed(at: slots.release(id), slots)
    }

    /// A stopping download has only its name lookup left. Its slot is free, and the lookup counts for its user.
    mutating func abandoned(_ id: FlightID) {
        pace.forget(id)
        queue.slotFreed(at: slots.abandon(id), slots)
    }

    /// The lookup that a download left behind has ended.
    mutating func lookupEnded(_ id: FlightID) { slots.lookupEnded(id) }

    /// The name that stands for a host with several names.
    func host(of origin: Origin) -> Origin { slots.names.name(of: origin) }

    /// A download connects to a server by a name. Returns the name that stands for the server.
    mutating func connects(_ origin: Origin, to address: ServerAddress) -> Origin {
        slots.names.connects(origin, to: address)
    }

    /// A running download counts for another host from now on, if that has a slot for it.
    mutating func moves(_ id: FlightID, to origin: Origin) -> Bool {
        guard let former = slots.moves(id, to: origin) else { return false }
        queue.slotFreed(at: former, slots)
        queue.slotFreed(at: origin, slots)
        return true
    }

    /// A response began. `isMultiplexed` says whether other downloads can share its connection.
    mutating func answered(_ id: FlightID, isMultiplexed: Bool) {
        guard let origin = slots.answered(id, isMultiplexed: isMultiplexed) else { return }
        queue.limitRose(at: origin, slots)
    }

    // MARK: Preemption

    /// This download is running and is perhaps only a prefetch.
    mutating func addPreemptible(_ key: CacheKey, _ origin: Origin) {
        preemption.insert(key, origin)
    }

    mutating func removePreemptible(_ key: CacheKey, _ origin: Origin) {
        preemption.remove(key, origin)
    }

    mutating func movePreemptible(_ key: CacheKey, from former: Origin, to origin: Origin) {
        if preemption.remove(key, former) { preemption.insert(key, origin) }
    }

    /// The next prefetch that has to stop for a visible download. Prefetches stop one after the
    /// other, and none stops while a slot is about to become free anyway.
    ///
    /// - Parameter cost: the cost of stopping a download. `nil` for a download that is more than a
    ///   prefetch.
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

    /// A download pauses. Returns whether its pause ends before all others.
    mutating func pauses(_ key: CacheKey, _ id: FlightID, until end: ContinuousClock.Instant)
        -> Bool
    {
        retries.add(key, id, at: end)
    }

    /// The next pause that has ended. The download may have ended or paused again since it began.
    mutating func takeDue(now: ContinuousClock.Instant) -> RetrySchedule.Place? {
        retries.takeDue(now: now)
    }

    // MARK: Refusals

    /// Why nothing is asked of a host now. `nil` if it may be asked.
    package func refusal(of origin: Origin) -> Failure? { slots.pauses.refusal(of: origin) }

    /// The number of pauses in a row after which the host refused again.
    func refusals(of origin: Origin) -> Int { slots.pauses.refusals(of: origin) }

    /// A host asked for a pause. The download has ended already.
    ///
    /// - Returns: whether the download was the first one after a pause.
    mutating func refused(
        _ origin: Origin, _ refusal: Failure, until end: ContinuousClock.Instant
    ) -> Bool {
        let wasTrying = slots.pauses.isTrying(origin)
        for other in slots.refused(origin, refusal, until: end) {
            queue.limitRose(at: other, slots)
        }
        return wasTrying
    }

    /// A host answered without a refusal.
    mutating func accepted(_ origin: Origin) {
        if slots.accepted(origin) { queue.limitRose(at: origin, slots) }
    }

    /// Time has passed. Hosts whose pause has ended may be asked again.
    mutating func endHostPauses(now: ContinuousClock.Instant) {
        for origin in slots.takeEndedPauses(now: now) { queue.slotFreed(at: origin, slots) }
    }

    // MARK: Limits

    /// The limits have changed. More downloads can start, or as many as are too many have to end first.
    mutating func limitsSet(_ limit: Int, hostLimit: Int) {
        self.limit = limit
        highestLimit = max(highestLimit, limit)
        slots.limit = throttledUntil == nil ? limit : max(1, limit / 2)
        slots.hostLimit = hostLimit
        queue.limitsRose(slots)
    }

    /// Memory is critically short, so half as many downloads run at once until `end`.
    package mutating func throttle(until end: ContinuousClock.Instant) {
        slots.limit = max(1, limit / 2)
        throttledUntil = end
    }

    /// Time has passed. Returns whether the throttling has just ended.
    mutating func isThrottlingOver(now: ContinuousClock.Instant) -> Bool {
        guard let end = throttledUntil, end <= now else { return false }
        throttledUntil = nil
        slots.limit = limit
        return true
    }

    /// The number of prefetches, of all hosts and of this one, that have to stop before a visible
    /// download of this client starts. For tests.
    func excess(for client: ClientID, at origin: Origin) -> (all: Int, host: Int) {
        (slots.excess(for: client), slots.excess(for: client, at: origin))
    }

    func checkInvariants(running active: Int) {
        precondition(active <= running, "\(active) downloads run, \(running) are counted")
        precondition(
            running <= highestLimit, "\(running) downloads run, over the limit of \(highestLimit)")
        checkLookups()
        queue.checkInvariants(slots)
    }

    private func checkLookups() {
        let lookups = slots.abandonedLookups
        let users = Set(lookups.users).union(slots.runningByUser.keys)
        for user in users {
            let own = slots.all(user) + lookups.count(of: user)
            precondition(own <= 2 * highestLimit, "a user has \(own) downloads and lookups")
        }
        let sum = running + lookups.count
        precondition(
            sum <= 5 * highestLimit + users.count, "all users have \(sum) downloads and lookups")
    }
}
