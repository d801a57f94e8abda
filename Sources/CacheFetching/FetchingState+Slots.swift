import CacheDisk
package import CacheKey

/// The slots of downloads: which queued download gets one, and which running one gives its own to another.
extension FetchingState {
    // MARK: Starting

    /// Whether more images can arrive soon.
    package var isDownloading: Bool {
        scheduler.running > 0 || store?.lookups.isAnyRunning == true
            || !scheduler.isQueueEmpty && mayStart
    }

    var mayStart: Bool {
        downloads.publishing < publishingLimit && !isDraining && disk.space.mayStart
    }

    /// Starts queued downloads while slots are free, and stops running ones that give way to others.
    package mutating func startTransfers(_ effects: inout Effects) {
        startQueued(&effects)
        preemptTransfers(&effects)
    }

    /// Starts queued downloads while slots are free.
    mutating func startQueued(_ effects: inout Effects) {
        if store != nil { startLookups(&effects) }
        while mayStart, let (key, flow) = scheduler.next(), let flight = downloads[key] {
            let isPrefetch = urgency(of: flight) == .background
            scheduler.started(flight.id, key, flow, isPrefetch: isPrefetch)
            dequeue(key, flight)
            if isToClaim(key, flight) {
                claim(key, for: flow.client, &effects)
                continue
            }
            disk.space.started()
            var hints = hints(for: key)
            (hints.fields, hints.isForGuests) = (flight.fields, isForGuests(flight))
            downloads.update(key) { $0.connects(forGuests: hints.isForGuests) }
            hints.isDerived = flight.name.side != nil
            if hints.isDerived { hints.partial = false }
            effects.work.append(.startTransfer(flight.id, key, flight.url, hints))
            changed(key, &effects)
        }
        if scheduler.planMeasurement() { effects.work.append(.planMeasurement) }
    }

    func hints(for key: CacheKey) -> LocalHints {
        guard disk.validity == .complete else { return LocalHints() }
        return LocalHints(
            partial: disk.space.partials.mayHold(key),
            entry: disk.dirtyNames.contains(key) || disk.contains(key))
    }

    /// Stops running downloads that give way to waiting ones. A stopped download keeps its partial, and is queued again.
    ///
    /// A call preempts only after it has named all of its images, because it may itself request a
    /// running prefetch.
    mutating func preemptTransfers(_ effects: inout Effects) {
        while mayStart, giveWay(&effects) {}
    }

    /// Time has passed: measures how fast downloads are while others wait. Slow ones give way.
    package mutating func paceMeasured(
        now: ContinuousClock.Instant, _ effects: inout Effects
    ) {
        guard !isDraining else { return }
        scheduler.measure(now: now) { [downloads] in downloads.flight($0, $1)?.intake.received }
        while giveWay(isSpaceShort: disk.space.isShort, &effects) {}
    }

    /// Stops the next download that gives way. Returns whether there was one.
    private mutating func giveWay(isSpaceShort: Bool = false, _ effects: inout Effects) -> Bool {
        let next = scheduler.nextToGiveWay(isSpaceShort: isSpaceShort) {
            [downloads, waiters] key, id, client in
            guard let flight = downloads.flight(key, id) else { return nil }
            let isPrefetch = flight.urgency(waiters) == .background
            guard isPrefetch || !flight.isWanted(by: client, waiters) else { return nil }
            return TransferSlots.StopCost(
                isPrefetch: isPrefetch, received: flight.intake.received, id: id)
        }
        guard let key = next, let flight = downloads[key] else { return false }
        // A prefetch continues before the other prefetches of its flow, a slow download after the others.
        cancel(key, flight, discardsPartial: false, &effects)
        requeue(key, atFront: urgency(of: flight) == .background, &effects)
        return true
    }

    /// Queues a running download again for all of its waiters.
    mutating func requeue(
        _ key: CacheKey, atFront: Bool = true, becauseOfSpace isShort: Bool = false,
        _ effects: inout Effects
    ) {
        let next = FlightID(rawValue: nextID())
        undo(key, atFront: atFront, freesSpace: !isShort, &effects) { $0.restarts(as: next) }
    }

    // MARK: The queue

    /// The priority of the download's most urgent waiter.
    func urgency(of flight: Flight) -> Priority { flight.urgency(waiters) }

    /// The flow of the download's most urgent waiter. A running download would get its next slot in
    /// that flow.
    package func flow(of key: CacheKey, _ id: FlightID) -> FlowKey? {
        guard let flight = downloads.flight(key, id) else { return nil }
        let urgency = urgency(of: flight)
        return tickets(key, flight).lazy.map(\.flow).first { $0.priority == urgency }
    }

    /// Whether only programs in sandboxes want the image.
    func isForGuests(_ flight: Flight) -> Bool {
        flight.detached?.client.isGuest != false
            && flight.waiters.allSatisfy { id in
                guard let variant = waiters[id]?.variant.flatMap({ downloads[$0] }) else {
                    return waiters[id]?.client.isGuest != false
                }
                return isForGuests(variant)
            }
    }

    /// Adds a queued download's tickets to the queue, one for each waiter.
    mutating func enqueue(_ key: CacheKey, atFront: Bool = false) {
        guard let flight = downloads[key] else { return }
        for (ticket, flow) in tickets(key, flight) {
            scheduler.enqueue(ticket, flow, atFront: atFront)
        }
    }

    /// Removes all tickets of a download from the queue, because it starts or ends.
    mutating func dequeue(_ key: CacheKey, _ flight: Flight) {
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
    mutating func queueAgain(_ key: CacheKey) {
        downloads.update(key) { $0.resumes() }
        enqueue(key)
    }
}

extension Flight {
    func urgency(_ waiters: Waiters) -> Priority {
        var most = detached?.priority ?? .background
        for id in self.waiters {
            if let waiter = waiters[id] { most = max(most, waiter.priority) }
        }
        return most
    }

    /// Whether a call of this client waits for the download.
    func isWanted(by client: ClientID, _ waiters: Waiters) -> Bool {
        detached?.client == client || self.waiters.contains { waiters[$0]?.client == client }
    }
}
