internal import CacheKey
package import CacheValues

/// Decides which download starts next, which running one stops for it, and when a failed download is retried.
///
/// Invariant: a free slot and a waiting download that can have it never coexist for longer than one
/// event.
package struct TransferScheduler: ~Copyable, Sendable {
    /// The configured maximum number of downloads at once.
    private(set) var limit: Int
    /// The highest ``limit`` so far. Downloads that began under it are not stopped for a lower one.
    private var highestLimit: Int
    /// A download that waits before its next attempt. It may have ended or paused again when the time comes.
    struct Pause: Sendable {
        let key: CacheKey
        let id: FlightID
    }

    private var queue = TransferQueue()
    private(set) var slots: TransferSlots
    private var retries = Schedule<Pause>()
    /// The time until which fewer downloads run because memory was short.
    private var throttledUntil: ContinuousClock.Instant?

    init(limit: Int, originLimit: Int, permitsPrefetches: Bool = true) {
        self.limit = limit
        highestLimit = limit
        slots = TransferSlots(limit: limit, originLimit: originLimit)
        slots.permitsPrefetches = permitsPrefetches
    }

    /// Downloads that have a slot.
    package var running: Int { slots.running }
    /// The running downloads of each user who has any.
    package var runningByUser: [UserID: Int] { slots.users.counts }

    /// Whether no download waits for a slot that it may have.
    var isQueueEmpty: Bool { queue.isIdle(slots) }
    var permitsPrefetches: Bool { slots.permitsPrefetches }

    /// The end of the next pause, or the time of the next measurement of running downloads while others wait. `nil` if
    /// there is none.
    func nextCheck(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let measurement = isQueueEmpty ? nil : slots.pace.next(now: now)
        return [retries.earliest, slots.pauses.earliest, measurement].compactMap(\.self).min()
    }

    // MARK: Starting

    /// A waiter waits for a queued download.
    mutating func enqueue(_ ticket: Ticket, _ flow: FlowKey, atFront: Bool = false) {
        queue.append(ticket, flow, atFront: atFront, slots)
    }

    mutating func dequeue(_ ticket: Ticket, _ flow: FlowKey) {
        queue.remove(ticket, flow, slots)
    }

    /// The download to start next, if a slot is free for it. ``started(_:_:_:isPrefetch:)`` follows, and
    /// ``dequeue(_:_:)`` of all its tickets.
    mutating func next() -> (key: CacheKey, flow: FlowKey)? { queue.next(slots) }

    mutating func started(_ id: FlightID, _ key: CacheKey, _ flow: FlowKey, isPrefetch: Bool) {
        slots.take(id, key, flow)
        if isPrefetch { slots.mayBePrefetch(id) }
    }

    func isTaken(by id: FlightID) -> Bool { slots.taken[id] != nil }

    /// A waiter has left this running download, so it may be only a prefetch now.
    mutating func mayBePrefetch(_ id: FlightID) { slots.mayBePrefetch(id) }

    /// A download is stopping. It keeps its slot until it has stopped.
    mutating func stops(_ id: FlightID) { slots.stops(id) }

    /// A transfer has ended, by success, failure or cancellation.
    mutating func ended(_ id: FlightID) {
        slotFreed(at: slots.release(id))
    }

    /// A stopping download has only its name lookup left. Its slot is free, and the lookup counts for its user.
    mutating func abandoned(_ id: FlightID) {
        slotFreed(at: slots.abandon(id))
    }

    /// The lookup that a download left behind has ended.
    mutating func lookupEnded(_ id: FlightID) {
        slots.lookupEnded(id)
        queue.limitsRose(slots)
    }

    private mutating func slotFreed(at origin: Origin) {
        queue.slotsFreed(at: origin, slots)
        // The user may have another download at other origins too.
        if slots.abandonedLookups.counts.total > 0 { queue.limitsRose(slots) }
    }

    /// A response began. `isMultiplexed` says whether other downloads can share its connection.
    mutating func answered(_ id: FlightID, isMultiplexed: Bool) {
        guard let origin = slots.answered(id, isMultiplexed: isMultiplexed) else { return }
        queue.slotsFreed(at: origin, slots)
    }

    /// A transfer found no place on the connections to its origin, and has ended.
    mutating func crowded(_ id: FlightID) {
        let origin = slots.release(id)
        slots.crowded(origin)
        slotFreed(at: origin)
    }

    // MARK: Giving way

    /// The next running download that has to stop for one that waits. Downloads stop one after the other: none stops
    /// while a slot that would serve is about to become free.
    ///
    /// - Parameters:
    ///   - isSpaceShort: whether downloads also wait because others hold the space on the disk.
    ///   - cost: the cost of stopping a download for a client. `nil` if it must not stop.
    mutating func nextToGiveWay(
        isSpaceShort: Bool = false,
        cost: (CacheKey, FlightID, ClientID) -> TransferSlots.StopCost?
    ) -> CacheKey? {
        guard !isQueueEmpty, !slots.prefetches.isEmpty || areClientsSeveral else { return nil }
        queue.blockLoneFlow(slots)
        if !slots.hasSlot || isSpaceShort, let key = nextToGiveWay(at: nil, cost) { return key }
        for origin in Array(queue.blockedOrigins) where slots.pauses.limit(of: origin) == nil {
            if let key = nextToGiveWay(at: origin, cost) { return key }
        }
        return nil
    }

    private mutating func nextToGiveWay(
        at origin: Origin?, _ cost: (CacheKey, FlightID, ClientID) -> TransferSlots.StopCost?
    ) -> CacheKey? {
        guard !slots.isClearing(origin) else { return nil }
        for flow in queue.firstOfEachUser(at: origin, slots) {
            let id = slots.nextToGiveWay(to: flow, at: origin) { cost($0, $1, flow.client) }
            guard let id, let transfer = slots.taken[id] else { continue }
            gaveWay(id, transfer.flow)
            return transfer.key
        }
        return nil
    }

    /// Whether those that run and those that wait are of several clients. One client takes no slots from itself.
    private var areClientsSeveral: Bool {
        slots.usage(at: nil).onlyClient.map { queue.hasClient(otherThan: $0) } ?? (running > 0)
    }

    private mutating func gaveWay(_ id: FlightID, _ flow: FlowKey) {
        queue.gaveWay(flow)
        if slots.pace.isSlow(id) { slots.pace.gaveWay(flow.client) }
    }

    /// Whether others have begun to wait, so that the running downloads have to be measured from now on.
    mutating func planMeasurement() -> Bool { !isQueueEmpty && slots.pace.plan() }

    /// Time has passed: measures how fast downloads are while others wait.
    ///
    /// - Parameter received: the bytes that a download has received. `nil` if it is over.
    mutating func measure(
        now: ContinuousClock.Instant, received: (CacheKey, FlightID) -> Int64?
    ) {
        guard !isQueueEmpty else { return slots.pace.reset() }
        slots.pace.measures(now: now)
        for (id, transfer) in slots.taken {
            guard let bytes = received(transfer.key, id) else { continue }
            slots.pace.measure(id, of: transfer.flow.client, received: bytes, now: now)
        }
    }

    // MARK: Retries

    /// A download pauses. Returns whether its pause ends before all others.
    mutating func pauses(_ key: CacheKey, _ id: FlightID, until end: ContinuousClock.Instant)
        -> Bool
    {
        retries.add(Pause(key: key, id: id), at: end)
    }

    /// The next pause that has ended.
    mutating func takeDue(now: ContinuousClock.Instant) -> Schedule<Pause>.Place? {
        retries.takeDue(now: now)
    }

    // MARK: Refusals

    /// Why nothing is asked of an origin now. `nil` if it may be asked.
    package func refusal(of origin: Origin) -> Failure? { slots.pauses.refusal(of: origin) }

    /// The number of pauses in a row after which the origin refused again.
    func refusals(of origin: Origin) -> Int { slots.pauses.refusals(of: origin) }

    /// An origin asked for a pause. The download has ended already.
    ///
    /// - Returns: whether the download was the first one after a pause.
    mutating func refused(
        _ origin: Origin, _ refusal: Failure, until end: ContinuousClock.Instant
    ) -> Bool {
        let wasTrying = slots.pauses.isTrying(origin)
        for other in slots.refused(origin, refusal, until: end) {
            queue.slotsFreed(at: other, slots)
        }
        return wasTrying
    }

    /// An origin answered without a refusal.
    mutating func accepted(_ origin: Origin) {
        if slots.accepted(origin) { queue.slotsFreed(at: origin, slots) }
    }

    /// Time has passed. Origins whose pause has ended may be asked again.
    mutating func endOriginPauses(now: ContinuousClock.Instant) {
        for origin in slots.takeEndedPauses(now: now) { queue.slotsFreed(at: origin, slots) }
    }

    // MARK: Limits

    /// The limits have changed. More downloads can start, or as many as are too many have to end first.
    mutating func limitsSet(_ limit: Int, originLimit: Int, permitsPrefetches: Bool) {
        slots.permitsPrefetches = permitsPrefetches
        self.limit = limit
        highestLimit = max(highestLimit, limit)
        slots.limit = throttledUntil == nil ? limit : max(1, limit / 2)
        slots.originLimit = originLimit
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

    func checkInvariants(running active: Int) {
        precondition(active <= running, "\(active) downloads run, \(running) are counted")
        precondition(
            running <= highestLimit, "\(running) downloads run, over the limit of \(highestLimit)")
        checkLookups()
        queue.checkInvariants(slots)
    }

    private func checkLookups() {
        let lookups = slots.abandonedLookups
        let users = Set(lookups.counts.counts.keys).union(slots.users.counts.keys)
        for user in users {
            let own = slots.users[user] + lookups.counts[user]
            precondition(own <= 2 * highestLimit, "a user has \(own) downloads and lookups")
        }
        let sum = running + lookups.counts.total
        precondition(
            sum <= 5 * highestLimit + users.count, "all users have \(sum) downloads and lookups")
    }
}
