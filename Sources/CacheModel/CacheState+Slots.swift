package import CacheKey

/// The slots of downloads: which queued download gets one, and which running one gives its own to another.
extension CacheState {
    // MARK: Starting

    /// Whether more images can arrive soon.
    package var isDownloading: Bool {
        scheduler.running > 0 || store?.lookups.isAnyRunning == true
            || !scheduler.isQueueEmpty && mayStart
    }

    package var mayStart: Bool {
        downloads.publishing < publishingLimit && !isDraining && space.mayStart
    }

    /// Starts queued downloads while slots are free, and stops prefetches whose slots visible
    /// downloads need.
    package mutating func startTransfers(_ effects: inout Effects) {
        startQueued(&effects)
        preemptTransfers(&effects)
    }

    /// Starts queued downloads while slots are free.
    package mutating func startQueued(_ effects: inout Effects) {
        if store != nil { startLookups(&effects) }
        while mayStart, let (key, flow) = scheduler.next(), let flight = downloads[key] {
            scheduler.started(flight.id, key, flow)
            dequeue(key, flight)
            space.started()
            downloads.update(key) { $0.connects() }
            if urgency(of: flight) == .background { scheduler.addPreemptible(key, flight.origin) }
            effects.work.append(.startTransfer(flight.id, key, flight.url, hints(for: key)))
            changed(key, &effects)
        }
    }

    package func hints(for key: CacheKey) -> LocalHints {
        guard catalog.validity == .complete else { return LocalHints() }
        return LocalHints(
            partial: space.partials.mayHold(key),
            entry: catalog.dirtyNames.contains(key) || catalog.contains(key))
    }

    /// Stops prefetches while a visible download waits for a slot, and downloads of users who have several
    /// while a user has none. A stopped download keeps its partial and becomes the first in its flow.
    ///
    /// A call preempts only after it has named all of its images, because it may itself request a
    /// running prefetch.
    package mutating func preemptTransfers(_ effects: inout Effects) {
        while mayStart, let key = nextToPreempt() ?? nextToYield() { preempt(key, &effects) }
    }

    private mutating func nextToPreempt() -> CacheKey? {
        scheduler.nextToPreempt { [downloads, waiters] key in
            guard let flight = downloads[key], flight.urgency(waiters) == .background else {
                return nil
            }
            return Preemption.Cost(received: flight.intake.received, id: flight.id)
        }
    }

    private mutating func nextToYield() -> CacheKey? {
        scheduler.nextToYield { [downloads, waiters] key, id, user in
            guard let flight = downloads.flight(key, id), !flight.isWanted(by: user, waiters) else {
                return nil
            }
            let isPrefetch = flight.urgency(waiters) == .background
            return Preemption.Cost(isPrefetch: isPrefetch, received: flight.intake.received, id: id)
        }
    }

    /// Time has passed. Downloads that do not earn their slots give them to others.
    package mutating func slotsEarned(now: ContinuousClock.Instant, _ effects: inout Effects) {
        guard !isDraining else { return }
        let unearned = scheduler.unearned(
            now: now, isSpaceShort: space.isShort,
            received: { [downloads] in downloads.flight($0, $1)?.intake.received },
            isWanted: { [downloads, waiters] in downloads[$0]?.isWanted(by: $1, waiters) == true })
        for (key, id) in unearned {
            // It may have stopped for another download since.
            guard downloads.flight(key, id)?.phase.isRunning == true else { continue }
            preempt(key, atFront: false, &effects)
        }
    }

    private mutating func preempt(
        _ key: CacheKey, atFront: Bool = true, _ effects: inout Effects
    ) {
        guard let flight = downloads[key] else { return }
        requeue(key, flight, atFront: atFront)
        cancel(key, flight, discardsPartial: false, &effects)
        changed(key, &effects)
        spaceReleased(&effects)
    }

    /// Queues a running download again for all of its waiters.
    mutating func requeue(
        _ key: CacheKey, _ flight: Flight, at host: Origin? = nil, atFront: Bool = true
    ) {
        releaseTransfer(key, flight)
        let next = FlightID(rawValue: nextID())
        downloads.update(key) { flight in
            if let host { flight.moves(to: host) }
            flight.restarts(as: next)
        }
        enqueue(key, atFront: atFront)
    }

    // MARK: The queue

    /// The priority of the download's most urgent waiter.
    package func urgency(of flight: Flight) -> Priority { flight.urgency(waiters) }

    /// The flow of the download's most urgent waiter. A running download would get its next slot in
    /// that flow.
    package func flow(of key: CacheKey, _ id: FlightID) -> FlowKey? {
        guard let flight = downloads.flight(key, id) else { return nil }
        let urgency = urgency(of: flight)
        return tickets(key, flight).lazy.map(\.flow).first { $0.priority == urgency }
    }

    /// Adds a queued download's tickets to the queue, one for each waiter.
    package mutating func enqueue(_ key: CacheKey, atFront: Bool = false) {
        guard let flight = downloads[key] else { return }
        for (ticket, flow) in tickets(key, flight) {
            scheduler.enqueue(ticket, flow, atFront: atFront)
        }
    }

    /// Removes all tickets of a download from the queue, because it starts or ends.
    package mutating func dequeue(_ key: CacheKey, _ flight: Flight) {
        for (ticket, flow) in tickets(key, flight) { scheduler.dequeue(ticket, flow) }
    }

    private func tickets(_ key: CacheKey, _ flight: Flight) -> [(ticket: Ticket, flow: FlowKey)] {
        var tickets = flight.waiters.sorted().compactMap { id in
            waiters[id].map { waiter in
                (ticket: Ticket(key: key, waiter: id), flow: FlowKey(waiter, flight.origin))
            }
        }
        if let detached = flight.detached {
            let flow = FlowKey(detached, flight.origin)
            tickets.append((ticket: Ticket(key: key, waiter: nil), flow: flow))
        }
        return tickets
    }

    /// The pause of a download has ended.
    package mutating func queueAgain(_ key: CacheKey) {
        downloads.update(key) { $0.resumes() }
        enqueue(key)
    }
}

extension Flight {
    package func urgency(_ waiters: Waiters) -> Priority {
        var most = detached?.priority ?? .background
        for id in self.waiters {
            if let waiter = waiters[id] { most = max(most, waiter.priority) }
        }
        return most
    }

    /// Whether a caller of this user waits for the download.
    func isWanted(by user: UserID, _ waiters: Waiters) -> Bool {
        detached?.client.user == user || self.waiters.contains { waiters[$0]?.client.user == user }
    }
}
