internal import CacheKey

/// Downloads: started, progressing, finished, published.
extension CacheState {
    /// Hands queued downloads to the transfer loop while it has room.
    mutating func startTransfers() -> [Effect] {
        var effects: [Effect] = []
        while running < transferLimit, publishing < Self.publishingLimit, !isDraining,
            let key = nextQueued()
        {
            flights[key]?.phase = .connecting
            running += 1
            if let flight = flights[key] {
                hosts.take(flight.url.origin, flight.id)
                effects.append(.startTransfer(flight.id, key, flight.url))
            }
            effects += changed(key)
        }
        return effects
    }

    /// The next in turn whose host can bear it; those whose host can't step aside and wait for it.
    private mutating func nextQueued() -> CacheKey? {
        let flights = flights
        let isCurrent = { (key: CacheKey, id: FlightID, priority: Priority) in
            guard let flight = flights[key] else { return false }
            return flight.id == id && flight.phase == .queued && flight.priority == priority
        }
        if let key = hosts.next(where: isCurrent) { return key }
        while let key = queue.next(where: isCurrent), let flight = flights[key] {
            if hosts.hasRoom(flight.url.origin) { return key }
            hosts.wait(flight.url.origin, key, flight.id, flight.priority)
        }
        return nil
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
        return changed(key)
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
            || received - flight.announced >= (total ?? 0) / 100
        flight.phase = .receiving
        flight.received = received
        flight.total = total
        if isNews { flight.announced = received }
        flights[key] = flight
        return isNews ? changed(key) : []
    }

    /// A download ended: with a staged image, or with why there is none.
    mutating func transferFinished(
        _ key: CacheKey, _ id: FlightID, _ result: Result<StagedImage, Failure>
    ) -> [Effect] {
        running -= 1
        hosts.release(id)
        guard let flight = flights[key], flight.id == id else { return startTransfers() }
        if case .success = result { publishing += 1 }
        let freed = startTransfers()
        switch result {
        case .success(let image):
            flights[key]?.phase = .publishing
            return freed + [.publish(image)] + changed(key)
        case .failure(let failure):
            return freed + endFlight(key) + failed(key, flight, failure)
        }
    }

    /// A staged image became an entry, or could not.
    mutating func published(_ publication: Publication) -> [Effect] {
        let key = publication.key
        examinations.note(key)
        guard let flight = flights[key], flight.id == publication.flight else {
            preconditionFailure("\(key) was published without a flight")
        }
        let freed = endFlight(key)
        publishing -= 1
        return startTransfers() + published(publication, flight) + freed + limitsChecked()
    }

    private mutating func published(_ publication: Publication, _ flight: Flight) -> [Effect] {
        let key = publication.key
        switch publication.result {
        case .failure(let failure) where flight.isUnwanted:
            return [.unlink(condemn(unindexed: key, 0))] + failed(key, flight, failure)
        case .failure(let failure):
            unverified.insert(key)
            return failed(key, flight, failure)
        case .success(let facts) where flight.isUnwanted:
            return [.unlink(condemn(unindexed: key, facts.allocated))]
                + failed(key, flight, .removed)
        case .success(let facts):
            counters.published += 1
            failures.forget(key)
            index.insert(key, facts)
            usedByPublication(key, facts.lastUsedAt)
            // A stranger may have been at it since the rename, and been noticed too early to count.
            unverified.insert(key)
            return decide(key, for: flight.interests, nil) + changed(key)
        }
    }

    private mutating func failed(_ key: CacheKey, _ flight: Flight, _ failure: Failure) -> [Effect]
    {
        counters.failed += 1
        failures.record(failure, of: key)
        return decide(key, for: flight.interests, failure) + changed(key)
    }

    /// Stops a download that nobody wants any more. One that is being published goes on: it is paid.
    /// One that is nearly through becomes the daemon's own.
    mutating func stopIfUnwanted(_ key: CacheKey) -> [Effect] {
        guard let flight = flights[key], !flight.isWanted, flight.phase != .publishing else {
            return []
        }
        if flight.phase != .queued,
            PartialPolicy.isWorthFinishing(received: flight.received, total: flight.total)
        {
            flights[key]?.isHeld = true
            return []
        }
        let freed = endFlight(key)
        guard flight.phase != .queued else { return freed + changed(key) }
        return [.cancelTransfer(flight.id, key, discardsPartial: false)] + freed + changed(key)
    }

    /// The end is near: what is under way stops, what is staged is still published, and everybody who
    /// waits for anything else hears that the cache shuts down.
    mutating func drainBegan() -> [Effect] {
        isDraining = true
        var effects: [Effect] = []
        for (key, flight) in flights where flight.phase != .publishing {
            _ = endFlight(key)
            if flight.phase != .queued {
                effects.append(.cancelTransfer(flight.id, key, discardsPartial: false))
            }
            effects += decide(key, for: flight.interests, .shuttingDown)
        }
        return effects
    }
}

extension Failure {
    static let removed = Failure(.removed, "it was removed while it was on its way; ask again")
}
