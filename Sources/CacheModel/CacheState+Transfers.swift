package import CacheKey

/// Downloads: started, preempted, progressing, published.
extension CacheState {
    // MARK: Starting

    /// Whether more images are to come soon.
    package var isDownloading: Bool { scheduler.running > 0 || !scheduler.isIdle && mayStart }

    private var mayStart: Bool {
        downloads.publishing < publishingLimit && !isDraining && space.mayStart
    }

    /// Starts queued downloads while slots are free, and frees slots for visible ones.
    package mutating func startTransfers(_ effects: inout Effects) {
        startQueued(&effects)
        preemptPrefetches(&effects)
    }

    /// Starts queued downloads while slots are free.
    package mutating func startQueued(_ effects: inout Effects) {
        while mayStart, let (key, flow) = scheduler.next(), let flight = downloads[key] {
            scheduler.started(flight.id, flow)
            dequeue(key, flight)
            space.started()
            downloads.update(key) { $0.connects() }
            if urgency(of: flight) == .background { scheduler.mayBePrefetch(key, flight.origin) }
            effects.work.append(.startTransfer(flight.id, key, flight.url, hints(for: key)))
            changed(key, &effects)
        }
    }

    private func hints(for key: CacheKey) -> LocalHints {
        guard catalog.validity == .complete else { return LocalHints() }
        return LocalHints(
            partial: space.partials.mayHold(key),
            entry: catalog.dirtyNames.contains(key) || catalog.contains(key))
    }

    /// While a visible download waits for a slot, a prefetch that has one stops, keeps its partial, and is
    /// the next of its flow.
    ///
    /// A call preempts once it has named all of its images: it may want a prefetch itself.
    package mutating func preemptPrefetches(_ effects: inout Effects) {
        while mayStart, let key = nextToPreempt() { preempt(key, &effects) }
    }

    private mutating func nextToPreempt() -> CacheKey? {
        scheduler.nextToPreempt { [downloads, waiters] key in
            guard let flight = downloads[key], flight.urgency(waiters) == .background else {
                return nil
            }
            return Preemption.Cost(received: flight.intake.received, id: flight.id)
        }
    }

    private mutating func preempt(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key] else { return }
        requeue(key, flight)
        effects.work.append(.cancelTransfer(flight.id, key, discardsPartial: false))
        changed(key, &effects)
        spaceReleased(&effects)
    }

    /// Queues a running download again, in front of its flows, for all who wait for it.
    private mutating func requeue(_ key: CacheKey, _ flight: Flight) {
        releaseTransfer(key, flight)
        let next = FlightID(rawValue: nextID())
        downloads.update(key) { $0.restarts(as: next) }
        enqueue(key, atFront: true)
    }

    // MARK: The queue

    /// How urgent a download is to its most urgent waiter.
    package func urgency(of flight: Flight) -> Priority { flight.urgency(waiters) }

    /// The flow in which a running download would get its next turn: that of its most urgent waiter.
    package func flow(of key: CacheKey, _ id: FlightID) -> FlowKey? {
        guard let flight = downloads.flight(key, id) else { return nil }
        let urgency = urgency(of: flight)
        return tickets(key, flight).lazy.map(\.flow).first { $0.priority == urgency }
    }

    /// Gives a queued download its tickets, one for each waiter.
    private mutating func enqueue(_ key: CacheKey, atFront: Bool = false) {
        guard let flight = downloads[key] else { return }
        for (ticket, flow) in tickets(key, flight) {
            scheduler.enqueue(ticket, flow, atFront: atFront)
        }
    }

    /// Takes all its tickets from it: it starts, or ends.
    private mutating func dequeue(_ key: CacheKey, _ flight: Flight) {
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

    /// The pause of a download is over.
    package mutating func queueAgain(_ key: CacheKey) {
        downloads.update(key) { $0.resumes() }
        enqueue(key)
    }

    // MARK: Progress

    /// The response began, over a connection that other downloads may share or not.
    package mutating func transferAnswered(
        _ id: FlightID, isMultiplexed: Bool, _ effects: inout Effects
    ) {
        scheduler.answered(id, isMultiplexed: isMultiplexed)
        if isMultiplexed { startTransfers(&effects) }
    }

    /// A download begins with bytes that are there already; or, after that, starts over, because the origin
    /// has another image or does not tell.
    package mutating func transferBegan(
        _ key: CacheKey, _ id: FlightID, with received: Int64, of total: Int64?,
        _ effects: inout Effects
    ) {
        guard let flight = downloads.flight(key, id) else { return }
        if flight.hasSpace { space.wrote(received - flight.intake.received) }
        downloads.update(key) { $0.begins(with: received, of: total) }
        changed(key, &effects)
        preemptPrefetches(&effects)
    }

    /// The response began, or more of the body arrived.
    package mutating func transferProgressed(
        _ key: CacheKey, _ id: FlightID, received: Int64, total: Int64?, _ effects: inout Effects
    ) {
        guard let flight = downloads.flight(key, id) else { return }
        let more = received - flight.intake.received
        counters.bytesReceived += more
        if flight.hasSpace { space.wrote(more) }
        if downloads.update(key, { $0.receives(received, of: total) }) == true {
            changed(key, &effects)
        }
    }

    // MARK: The end of a transfer

    /// The whole image is here and checked. Whether it is to be published: not if its download has ended.
    package mutating func imageStaged(
        _ key: CacheKey, _ id: FlightID, size: Int64, _ effects: inout Effects
    ) {
        transferEnded(key, id)
        guard downloads.flight(key, id) != nil else { return startTransfers(&effects) }
        // The last of it comes with its end.
        transferProgressed(key, id, received: size, total: size, &effects)
        publish(key, .publish(id, key), &effects)
    }

    /// The origin confirmed the entry that the download asked about.
    package mutating func entryConfirmed(_ key: CacheKey, _ id: FlightID, _ effects: inout Effects)
    {
        transferEnded(key, id)
        guard downloads.flight(key, id) != nil else { return startTransfers(&effects) }
        publish(key, .confirm(id, key), &effects)
    }

    private mutating func publish(_ key: CacheKey, _ work: Work, _ effects: inout Effects) {
        downloads.publish(key, losses: catalog.losses)
        startTransfers(&effects)
        effects.work.append(work)
        changed(key, &effects)
    }

    /// The transfer has given its slot back, whatever became of its download.
    package mutating func transferEnded(_ key: CacheKey, _ id: FlightID) {
        scheduler.ended(id)
        if let flight = downloads.flight(key, id) { scheduler.isNoPrefetch(key, flight.origin) }
    }

    // MARK: Publications

    /// A staged image became an entry, or could not.
    package mutating func published(_ publication: Publication, _ effects: inout Effects) {
        let key = publication.key
        let flight = publicationEnded(key, publication.flight)
        if publication.isLostByOthers, !flight.wasLost, flight.isWanted, !flight.isUnwanted,
            !isDraining
        {
            downloadAgain(key, flight, &effects)
        } else {
            endFlight(key, &effects)
            take(publication, flight, &effects)
            limitsChecked(&effects)
        }
        startTransfers(&effects)
    }

    /// The record of a confirmed entry was rewritten, or could not be. If the entry is gone, it is
    /// downloaded, and then there is nothing to ask about.
    package mutating func confirmed(
        _ key: CacheKey, _ id: FlightID, _ end: RevalidationEnd, _ effects: inout Effects
    ) {
        let flight = publicationEnded(key, id)
        if case .gone = end, flight.isWanted, !flight.isUnwanted, !isDraining {
            downloadAgain(key, flight, &effects)
            return startTransfers(&effects)
        }
        endFlight(key, &effects)
        var failure: Failure?
        switch end {
        case _ where flight.isUnwanted:
            unlinkConfirmed(key, end, &effects)
            failure = .removed
        case .gone: failure = .shuttingDown
        case .stored, .unstored: takeConfirmed(key, end)
        }
        settle(key, flight.waiters, failure, &effects)
        changed(key, &effects)
        startTransfers(&effects)
    }

    private mutating func takeConfirmed(_ key: CacheKey, _ end: RevalidationEnd) {
        if case .stored(let facts) = end {
            _ = catalog.insert(key, facts)
            noStoreGrace.note(key, facts.removeAt)
        }
        // Somebody may have been at it meanwhile, and been noticed too early to count.
        catalog.becameDirty(key)
        counters.revalidated += 1
        failures.forget(key)
    }

    private mutating func publicationEnded(_ key: CacheKey, _ id: FlightID) -> Flight {
        catalog.touched(key)
        space.partials.touched(key)
        guard let flight = downloads.flight(key, id), flight.isPublishing else {
            preconditionFailure("\(key) was published without a download")
        }
        downloads.publishingEnded()
        return flight
    }

    /// A stranger took its file away, or it was lost with others: once, it is downloaded again.
    private mutating func downloadAgain(
        _ key: CacheKey, _ flight: Flight, _ effects: inout Effects
    ) {
        releaseReservation(key, flight)
        catalog.becameDirty(key)
        downloads.update(key) { $0.isLost() }
        enqueue(key)
        changed(key, &effects)
        spaceReleased(&effects)
    }

    private mutating func take(
        _ publication: Publication, _ flight: Flight, _ effects: inout Effects
    ) {
        let key = publication.key
        switch publication.result {
        case .failure(let failure):
            if flight.isUnwanted {
                effects.work.append(.unlink(space.unlinkPending(key, 0)))
            } else {
                catalog.becameDirty(key)
            }
            failed(key, flight, failure, &effects)
        case .success(let facts) where flight.isUnwanted:
            effects.work.append(.unlink(space.unlinkPending(key, facts.allocated)))
            failed(key, flight, .removed, &effects)
        case .success(let facts):
            counters.published += 1
            failures.forget(key)
            // If a stranger was at it since it has its name, it has to be probed.
            let isUndisturbed = flight.observer.isUndisturbed(losses: catalog.losses)
            catalog.published(key, facts, isUndisturbed: isUndisturbed)
            noStoreGrace.note(key, facts.removeAt)
            settlePartial(key, flight)
            settle(key, flight.waiters, nil, &effects)
            changed(key, &effects)
        }
    }

    /// A partial that was whole already needed no reservation, and is in the ledger still: it is probed.
    private mutating func settlePartial(_ key: CacheKey, _ flight: Flight) {
        if space.partials[key] != nil {
            space.partials.becameDirty(key)
        } else if flight.observer.leavesNoPartial(losses: catalog.losses) {
            space.partials.clean(key)
        }
    }

    /// It was removed while it was being confirmed, and its file was left to this.
    private mutating func unlinkConfirmed(
        _ key: CacheKey, _ end: RevalidationEnd, _ effects: inout Effects
    ) {
        var bytes: Int64 = 0
        if case .stored(let facts) = end { bytes = facts.allocated }
        let victim = unlinkPending(key) ?? space.unlinkPending(key, bytes)
        effects.work.append(.unlink(victim))
    }

    // MARK: Ending a download

    /// Stops a download that nobody wants any more. One that is being published goes on, and one that is
    /// nearly finished becomes detached.
    package mutating func stopIfUnwanted(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key], !flight.isWanted, !flight.isPublishing else { return }
        // Before the origin has answered, nobody knows whether it continues what is there.
        if flight.phase == .receiving,
            PartialPolicy.isWorthFinishing(
                received: flight.intake.received, total: flight.intake.total)
        {
            return setDetached(key, Flight.Detached())
        }
        endFlight(key, &effects)
        if flight.phase.isRunning {
            effects.work.append(.cancelTransfer(flight.id, key, discardsPartial: false))
        }
        changed(key, &effects)
    }

    /// Ends a download. What it has written stays as a partial until somebody looks.
    package mutating func endFlight(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key] else { return }
        if flight.detached != nil { waiters.detached.remove() }
        if flight.phase == .queued { dequeue(key, flight) }
        releaseTransfer(key, flight)
        _ = downloads.remove(key)
        spaceReleased(&effects)
    }

    /// Gives back what a transfer has: but for its slot, which it has until it ends.
    private mutating func releaseTransfer(_ key: CacheKey, _ flight: Flight) {
        catalog.maybeUnspared(key)
        scheduler.stops(flight.id)
        scheduler.isNoPrefetch(key, flight.origin)
        releaseReservation(key, flight)
    }

    package mutating func releaseReservation(_ key: CacheKey, _ flight: Flight) {
        guard flight.hasSpace else { return }
        space.release(
            key, reserved: flight.intake.reserved, received: flight.intake.received,
            leavesPartial: !flight.isPublishing)
    }

    /// The download asked for space that others have: it stops, and continues once some is free.
    package mutating func waitForSpace(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key] else { return }
        requeue(key, flight)
        changed(key, &effects)
        // Not counted as a release: it would start again at once.
        space.becameShort()
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
}

extension Failure {
    package static let removed = Failure(
        .removed, "it was removed while it was on its way; ask again")
}
