package import CacheKey
package import ImageFormats

/// Downloads: how they start, stop for more urgent ones, progress, and become entries.
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
    private mutating func requeue(
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

    // MARK: Progress

    /// The response began. `isMultiplexed` says whether other downloads can share its connection.
    package mutating func transferAnswered(
        _ id: FlightID, isMultiplexed: Bool, _ effects: inout Effects
    ) {
        scheduler.answered(id, isMultiplexed: isMultiplexed)
        if isMultiplexed { startTransfers(&effects) }
    }

    /// A download is about to connect to a server. If the server has other names, the download counts with theirs. If
    /// the server has as many downloads as it may have, this one is queued again.
    ///
    /// - Returns: whether the download may connect.
    package mutating func transferConnects(
        _ key: CacheKey, _ id: FlightID, to address: ServerAddress, _ effects: inout Effects
    ) -> Bool {
        guard let flight = downloads.flight(key, id), flight.phase.isRunning else { return false }
        let host = scheduler.connects(Origin(flight.url), to: address)
        guard host != flight.origin else { return true }
        let mayConnect = scheduler.moves(id, to: host)
        if mayConnect {
            scheduler.movePreemptible(key, from: flight.origin, to: host)
            downloads.update(key) { $0.moves(to: host) }
        } else {
            requeue(key, flight, at: host)
            changed(key, &effects)
            spaceReleased(&effects)
        }
        startTransfers(&effects)
        return mayConnect
    }

    /// A download begins with the bytes of a partial, or starts over. It starts over if the origin
    /// has another version of the image, or does not say which version it has.
    package mutating func transferBegan(
        _ key: CacheKey, _ id: FlightID, with received: Int64, of total: Int64?,
        _ effects: inout Effects
    ) {
        guard let flight = downloads.flight(key, id) else { return }
        if flight.hasSpace { space.wrote(received - flight.intake.received) }
        downloads.update(key) { $0.begins(with: received, of: total) }
        changed(key, &effects)
        preemptTransfers(&effects)
    }

    /// The response began, or more of the body arrived.
    package mutating func transferProgressed(
        _ key: CacheKey, _ id: FlightID, received: Int64, total: Int64?,
        shape: ImageShape? = nil, _ effects: inout Effects
    ) {
        guard let flight = downloads.flight(key, id) else { return }
        let more = received - flight.intake.received
        counters.bytesReceived += more
        if flight.hasSpace { space.wrote(more) }
        if downloads.update(key, { $0.receives(received, of: total, shape ?? $0.intake.shape) })
            == true
        {
            changed(key, &effects)
        }
    }

    // MARK: The end of a transfer

    /// The whole image has arrived and been checked. It is published, unless its download has ended.
    package mutating func imageStaged(
        _ key: CacheKey, _ id: FlightID, size: Int64, isShareable: Bool = false,
        _ effects: inout Effects
    ) {
        transferEnded(key, id)
        guard let flight = downloads.flight(key, id) else { return startTransfers(&effects) }
        downloads.update(key) { $0.isShareable = isShareable }
        scheduler.accepted(flight.origin)
        // The last bytes are reported together with the end of the transfer.
        transferProgressed(key, id, received: size, total: size, &effects)
        publish(key, .publish(id, key), &effects)
    }

    /// The origin confirmed the entry that the download asked about.
    package mutating func entryConfirmed(
        _ key: CacheKey, _ id: FlightID, isShareable: Bool = false, lifetime: Int64 = 0,
        _ effects: inout Effects
    ) {
        transferEnded(key, id)
        guard let flight = downloads.flight(key, id) else { return startTransfers(&effects) }
        downloads.update(key) { ($0.isShareable, $0.confirmedLifetime) = (isShareable, lifetime) }
        scheduler.accepted(flight.origin)
        publish(key, .confirm(id, key), &effects)
    }

    package mutating func publish(_ key: CacheKey, _ work: Work, _ effects: inout Effects) {
        downloads.publish(key, losses: catalog.losses)
        startTransfers(&effects)
        effects.work.append(work)
        changed(key, &effects)
    }

    /// The transfer has ended and its slot is free. Its download can continue or end.
    package mutating func transferEnded(_ key: CacheKey, _ id: FlightID) {
        scheduler.ended(id)
        if let flight = downloads.flight(key, id) {
            scheduler.removePreemptible(key, flight.origin)
        }
    }

    // MARK: Publications

    /// A staged image became an entry, or its publication failed.
    package mutating func published(_ publication: Publication, _ effects: inout Effects) {
        let key = publication.key
        let isCurrent = publication.probeStart.map { catalog.isCurrent(key, since: $0) } ?? false
        let flight = publicationEnded(key, publication.flight)
        if publication.isLostByOthers, !flight.wasLost, flight.isWanted, !flight.isRemovalPending,
            !isDraining
        {
            downloadAgain(key, flight, &effects)
        } else if isOnlyPartOfAnswer(publication, flight) {
            takeFromStore(publication, flight, isCurrent: isCurrent, &effects)
            limitsChecked(&effects)
        } else {
            endFlight(key, &effects)
            take(publication, flight, isCurrent: isCurrent, &effects)
            limitsChecked(&effects)
        }
        startTransfers(&effects)
    }

    /// The record of a confirmed entry was rewritten, or could not be. If the entry is gone, the
    /// image is downloaded, because no entry is left to ask the origin about.
    ///
    /// - Parameter start: when the probe began whose result is `end`. The probe ends here.
    package mutating func confirmed(
        _ key: CacheKey, _ id: FlightID, _ end: RevalidationEnd, since start: ChangeEpochs.Start,
        _ effects: inout Effects
    ) {
        // Another program may have changed the file meanwhile.
        let isCurrent = catalog.isCurrent(key, since: start)
        catalog.endProbe()
        let flight = publicationEnded(key, id)
        if case .gone = end, flight.isWanted, !flight.isRemovalPending, !isDraining {
            downloadAgain(key, flight, &effects)
            return startTransfers(&effects)
        }
        endFlight(key, &effects)
        var failure: Failure?
        switch end {
        case _ where flight.isRemovalPending:
            unlinkConfirmed(key, end, &effects)
            failure = .removed
        case .gone: failure = .shuttingDown
        case .stored, .unstored: takeConfirmed(key, end, isCurrent: isCurrent)
        }
        settle(key, flight.waiters, failure, &effects)
        if failure == nil { renewInStore(key, flight, end, &effects) }
        changed(key, &effects)
        startTransfers(&effects)
    }

    private mutating func takeConfirmed(
        _ key: CacheKey, _ end: RevalidationEnd, isCurrent: Bool
    ) {
        if case .stored(let facts) = end {
            _ = catalog.insert(key, facts)
            noStoreGrace.note(key, facts.removeAt)
            if isCurrent { catalog.clean(key) } else { catalog.becameDirty(key) }
        } else {
            catalog.becameDirty(key)
        }
        counters.revalidated += 1
        failures.forget(key)
    }

    mutating func publicationEnded(_ key: CacheKey, _ id: FlightID) -> Flight {
        catalog.invalidateProbes(of: key)
        space.partials.invalidateProbes(of: key)
        guard let flight = downloads.flight(key, id), flight.isPublishing else {
            preconditionFailure("\(key) was published without a download")
        }
        downloads.publishingEnded()
        return flight
    }

    /// Queues the download again, at most once. Another program removed its file, or a failure of
    /// other files lost it.
    private mutating func downloadAgain(
        _ key: CacheKey, _ flight: Flight, _ effects: inout Effects
    ) {
        releaseReservation(key, flight)
        catalog.becameDirty(key)
        downloads.update(key) { $0.requeuesAfterLoss() }
        enqueue(key)
        changed(key, &effects)
        spaceReleased(&effects)
    }

    /// - Parameter isCurrent: whether the facts come from a probe of the name that is still true.
    private mutating func take(
        _ publication: Publication, _ flight: Flight, isCurrent: Bool, _ effects: inout Effects
    ) {
        let key = publication.key
        switch publication.result {
        case .failure(let failure):
            if flight.isRemovalPending {
                effects.work.append(.unlink(space.unlinkPending(key, 0)))
            } else {
                catalog.becameDirty(key)
            }
            failed(key, flight, failure, &effects)
        case .success(let facts) where flight.isRemovalPending:
            let bytes = catalog.index.sibling(of: facts, except: key) == nil ? facts.allocated : 0
            effects.work.append(.unlink(space.unlinkPending(key, bytes)))
            failed(key, flight, .removed, &effects)
        case .success(let facts):
            enter(facts, publication, flight, isCurrent: isCurrent, &effects)
            settle(key, flight.waiters, nil, &effects)
            changed(key, &effects)
            putInStore(key, flight, &effects)
        }
    }

    /// Enters a published image in the catalog.
    ///
    /// - Parameter isCurrent: whether the facts come from a probe of the name that is still true.
    package mutating func enter(
        _ facts: EntryFacts, _ publication: Publication, _ flight: Flight, isCurrent: Bool,
        _ effects: inout Effects
    ) {
        let key = publication.key
        counters.published(after: publication.time)
        failures.forget(key)
        // The name has to be probed if another program touched it after the image was published.
        let isUndisturbed =
            isCurrent || flight.observer.isUndisturbed(losses: catalog.losses)
        catalog.published(key, facts, isUndisturbed: isUndisturbed)
        noStoreGrace.note(key, facts.removeAt)
        settlePartial(key, flight)
        damageRepaired(key, &effects)
    }

    /// Marks or clears the name of the partial. A partial that was already whole needed no
    /// reservation and is still in the ledger, so its name is marked for a probe.
    private mutating func settlePartial(_ key: CacheKey, _ flight: Flight) {
        if space.partials[key] != nil {
            space.partials.becameDirty(key)
        } else if flight.observer.leavesNoPartial(losses: catalog.losses) {
            space.partials.clean(key)
        }
    }

    /// Unlinks an entry that was removed during its confirmation. The removal left its file to this
    /// event.
    private mutating func unlinkConfirmed(
        _ key: CacheKey, _ end: RevalidationEnd, _ effects: inout Effects
    ) {
        var bytes: Int64 = 0
        if case .stored(let facts) = end { bytes = facts.allocated }
        let victim = unlinkPending(key) ?? space.unlinkPending(key, bytes)
        effects.work.append(.unlink(victim))
    }

    // MARK: Ending a download

    /// Stops a download for which no caller waits any more. A download that is being published
    /// continues, and one that is nearly finished becomes detached.
    package mutating func stopIfUnwanted(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key], !flight.isWanted, !flight.isPublishing else { return }
        // Before the response begins, it is unknown whether the download continues the partial.
        if flight.phase == .receiving,
            PartialPolicy.isWorthFinishing(
                received: flight.intake.received, total: flight.intake.total)
        {
            return setDetached(key, Flight.Detached())
        }
        endFlight(key, &effects)
        if flight.phase.isRunning { cancel(key, flight, discardsPartial: false, &effects) }
        changed(key, &effects)
    }

    /// Stops the transfer of a download that has ended or been queued again.
    package mutating func cancel(
        _ key: CacheKey, _ flight: Flight, discardsPartial: Bool, _ effects: inout Effects
    ) {
        effects.work.append(
            flight.isAsking
                ? .cancelLookup(flight.id, key, discardsPartial: discardsPartial)
                : .cancelTransfer(flight.id, key, discardsPartial: discardsPartial))
    }

    /// Ends a download. Its written bytes count as a partial until a probe says otherwise.
    package mutating func endFlight(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key] else { return }
        if let detached = flight.detached { waiters.detached.remove(key, of: detached.client) }
        if flight.isQueued { dequeue(key, flight) }
        if flight.waitsForStore { store?.lookups.forget(key) }
        releaseTransfer(key, flight)
        _ = downloads.remove(key)
        spaceReleased(&effects)
    }

    /// Releases everything that a transfer holds except its slot, which it keeps until it ends.
    private mutating func releaseTransfer(_ key: CacheKey, _ flight: Flight) {
        catalog.maybeUnspared(key)
        scheduler.stops(flight.id)
        scheduler.removePreemptible(key, flight.origin)
        releaseReservation(key, flight)
    }

    package mutating func releaseReservation(_ key: CacheKey, _ flight: Flight) {
        guard flight.hasSpace else { return }
        space.release(
            key, reserved: flight.intake.reserved, received: flight.intake.received,
            leavesPartial: !flight.isPublishing)
    }

    /// The download requested space that other downloads hold. It stops, and continues once space
    /// is free.
    package mutating func waitForSpace(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key] else { return }
        requeue(key, flight)
        changed(key, &effects)
        // This is not a release of space: a release would start the download again at once.
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

    /// Whether a caller of this user waits for the download.
    func isWanted(by user: UserID, _ waiters: Waiters) -> Bool {
        detached?.client.user == user || self.waiters.contains { waiters[$0]?.client.user == user }
    }
}

extension Failure {
    package static let removed = Failure(
        .removed, "it was removed while it was on its way; ask again")
}
