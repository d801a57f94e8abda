internal import CacheKey

/// Downloads: started, progressing, finished, published.
extension CacheState {
    /// Hands queued downloads to the transfer loop while it has room, and makes room for what is visible.
    mutating func startTransfers() -> [Effect] {
        startQueued() + prefetchesGiveWay()
    }

    /// Whether a download may begin at all.
    var mayStart: Bool { publishing < publishingLimit && !isDraining }

    /// Whether more images are to come.
    var isDownloading: Bool { running > 0 || !queue.isEmpty && mayStart }

    /// Hands queued downloads to the transfer loop while it has room.
    mutating func startQueued() -> [Effect] {
        var effects: [Effect] = []
        while mayStart, let (key, lane) = queue.next(slots), let flight = flights[key] {
            slots.take(flight.id, lane)
            leaveQueue(key, flight)
            flights.update(key) { $0.connects() }
            if urgency(of: flight) == .background { prefetches.insert(key, flight.origin) }
            effects.append(.startTransfer(flight.id, key, flight.url, remains(of: key)))
            effects += changed(key)
        }
        return effects
    }

    private func remains(of key: CacheKey) -> LocalHints {
        guard trust == .whole else { return LocalHints() }
        return LocalHints(
            partial: partials.mayHold(key),
            entry: dirtyNames.contains(key) || index.contains(key))
    }

    /// How urgent a download is to the most urgent of those who wait for it.
    func urgency(of flight: Flight) -> Priority {
        var most = flight.isDetached ? flight.detachedPriority : .background
        for id in flight.waiters {
            if let waiter = waiters[id] { most = max(most, waiter.priority) }
        }
        return most
    }

    /// The line a download would have its next turn in: that of the most urgent who waits for it.
    func lane(of key: CacheKey, _ id: FlightID) -> TransferQueue.FlowKey? {
        guard let flight = flights[key], flight.id == id else { return nil }
        let urgency = urgency(of: flight)
        return places(key, flight).lazy.map { $0.1 }.first { $0.priority == urgency }
    }

    /// Gives a queued download its places in the queue, one for each who waits.
    mutating func enterQueue(_ key: CacheKey, atFront: Bool = false) {
        guard let flight = flights[key] else { return }
        for (place, lane) in places(key, flight) { queue.append(place, lane, atFront: atFront) }
    }

    /// Takes all its places from it: it starts, or ends.
    mutating func leaveQueue(_ key: CacheKey, _ flight: Flight) {
        for (place, lane) in places(key, flight) { queue.remove(place, lane, slots) }
    }

    private func places(
        _ key: CacheKey, _ flight: Flight
    ) -> [(TransferQueue.Place, TransferQueue.FlowKey)] {
        var places = flight.waiters.sorted().compactMap { id in
            waiters[id].map { waiter in
                (TransferQueue.Place(key: key, waiter: id), TransferQueue.FlowKey(waiter, flight))
            }
        }
        if flight.isDetached {
            places.append(
                (TransferQueue.Place(key: key, waiter: nil), TransferQueue.FlowKey(held: flight)))
        }
        return places
    }

    /// The response began, over a connection that others may share or not.
    mutating func transferAnswered(_ id: FlightID, isMultiplexed: Bool) -> [Effect] {
        guard let origin = slots.answered(id, isMultiplexed: isMultiplexed) else { return [] }
        queue.limitRose(at: origin, slots)
        return startTransfers()
    }

    /// A download begins with so many bytes that were there, or, after that, anew: the origin has
    /// another image, or does not tell.
    mutating func transferBegan(
        _ key: CacheKey, _ id: FlightID, with received: Int64, of total: Int64?
    ) -> [Effect] {
        guard var flight = flights[key], flight.id == id else { return [] }
        if flight.hasRoom { room.written += received - flight.received }
        flight.received = received
        flight.announced = received
        flight.total = total
        flights[key] = flight
        // What begins anew is not nearly through any more.
        return changed(key) + prefetchesGiveWay()
    }

    /// The response began, or more of the body arrived.
    mutating func transferProgressed(
        _ key: CacheKey, _ id: FlightID, received: Int64, total: Int64?
    ) -> [Effect] {
        guard var flight = flights[key], flight.id == id else { return [] }
        counters.bytesReceived += received - flight.received
        if flight.hasRoom { room.written += received - flight.received }
        let isNews =
            flight.phase != .receiving || flight.total != total
            || isProgress(flight, received: received, of: total)
        flight.phase = .receiving
        flight.received = received
        flight.total = total
        if isNews { flight.announced = received }
        flights[key] = flight
        return isNews ? changed(key) : []
    }

    /// A download ended: with a staged image, the origin's word that the entry is good, or with why there
    /// is neither.
    mutating func transferFinished(
        _ key: CacheKey, _ id: FlightID, _ end: TransferEnd, now: Moment,
        using random: inout some RandomNumberGenerator
    ) -> [Effect] {
        queue.roomGrew(at: slots.release(id), slots)
        guard let flight = flights[key], flight.id == id else { return startTransfers() }
        prefetches.remove(key, flight.origin)
        switch end {
        case .staged(let image):
            // The last of it comes with its end.
            let size = image.record.size
            return transferProgressed(key, id, received: size, total: size)
                + publishBegins(key, .publish(image))
        case .confirmed(let revalidation): return publishBegins(key, .confirm(revalidation))
        case .failed(let failed):
            return startTransfers() + transferFailed(key, flight, failed, now, using: &random)
        }
    }

    private mutating func publishBegins(_ key: CacheKey, _ effect: Effect) -> [Effect] {
        publishing += 1
        let freed = startTransfers()
        flights.update(key) { [losses] in $0.publishes(losses) }
        return freed + [effect] + changed(key)
    }

    /// A staged image became an entry, or could not.
    mutating func published(_ publication: Publication) -> [Effect] {
        let key = publication.key
        epochs.note(key)
        partials.epochs.note(key)
        guard let flight = flights[key], flight.id == publication.flight else {
            preconditionFailure("\(key) was published without a flight")
        }
        publishing -= 1
        if publication.isLostByOthers, !flight.wasLost, flight.isWanted, !flight.isUnwanted,
            !isDraining
        {
            return beginAgain(key, flight, publication) + startTransfers()
        }
        let freed = endFlight(key)
        return startTransfers() + published(publication, flight) + freed + limitsChecked()
    }

    /// It fell with others, or a stranger took its file away: once, it is downloaded anew.
    private mutating func beginAgain(
        _ key: CacheKey, _ flight: Flight, _ publication: Publication
    ) -> [Effect] {
        let freed = giveBackRoom(key, flight)
        dirtyNames.insert(key)
        flights[key]?.wasLost = true
        flights[key]?.becomeUnbegun()
        queueAgain(key)
        return freed + changed(key)
    }

    private mutating func published(_ publication: Publication, _ flight: Flight) -> [Effect] {
        let key = publication.key
        switch publication.result {
        case .failure(let failure) where flight.isUnwanted:
            return [.unlink(condemn(unindexed: key, 0))] + failed(key, flight, failure)
        case .failure(let failure):
            dirtyNames.insert(key)
            return failed(key, flight, failure)
        case .success(let facts) where flight.isUnwanted:
            return [.unlink(condemn(unindexed: key, facts.allocated))]
                + failed(key, flight, .removed)
        case .success(let facts):
            counters.published += 1
            failures.forget(key)
            index.insert(key, facts)
            handOver(key, facts)
            usedByPublication(key, facts.lastUsedAt)
            // A stranger may have been at it since it has its name, and been noticed too early to count.
            if flight.landing.isUndisturbed(losses: losses) {
                dirtyNames.remove(key)
            } else {
                dirtyNames.insert(key)
            }
            // One that was whole already needed no room, and is on the books yet: it is looked for.
            if partials[key] != nil {
                partials.doubt(key)
            } else if flight.landing.leavesNoPartial(losses: losses) {
                partials.dirtyNames.remove(key)
            }
            return decide(key, for: flight.waiters, nil) + changed(key)
        }
    }

    /// Stops a download that nobody wants any more. One that is being published goes on: it is paid.
    /// One that is nearly through becomes the daemon's own.
    mutating func stopIfUnwanted(_ key: CacheKey) -> [Effect] {
        guard let flight = flights[key], !flight.isWanted, flight.phase != .publishing else {
            return []
        }
        // Before the origin has answered, nobody knows whether it goes on with what is there.
        if flight.phase == .receiving,
            PartialPolicy.isWorthFinishing(received: flight.received, total: flight.total)
        {
            setHeld(key, true)
            return []
        }
        let freed = endFlight(key)
        guard flight.phase.isRunning else { return freed + changed(key) }
        return [.cancelTransfer(flight.id, key, discardsPartial: false)] + freed + changed(key)
    }

    /// The end is near: what is under way stops, what is staged is still published, and everybody who
    /// waits for anything else hears that the cache shuts down.
    mutating func drainBegan() -> [Effect] {
        isDraining = true
        var effects: [Effect] = []
        for (key, flight) in flights where flight.phase != .publishing {
            _ = endFlight(key)
            if flight.phase.isRunning {
                effects.append(.cancelTransfer(flight.id, key, discardsPartial: false))
            }
            effects += decide(key, for: flight.waiters, .shuttingDown)
        }
        return effects
    }
}

extension TransferQueue.FlowKey {
    /// Where a caller waits for a download.
    init(_ waiter: Waiter, _ flight: Flight) {
        self.init(
            priority: waiter.priority, client: waiter.client, origin: flight.origin)
    }

    /// Where the daemon itself waits for one it holds.
    init(held flight: Flight) {
        self.init(
            priority: flight.detachedPriority, client: flight.detachedClient, origin: flight.origin)
    }
}

extension Failure {
    static let removed = Failure(.removed, "it was removed while it was on its way; ask again")
}
