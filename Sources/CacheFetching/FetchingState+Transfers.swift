import CacheDisk
package import CacheKey
import CacheValues
package import ImageFormats

/// Transfers of downloads: their progress, and how they end.
extension FetchingState {
    // MARK: Progress

    /// The response began. `isMultiplexed` says whether other downloads can share its connection.
    package mutating func transferAnswered(
        _ id: FlightID, isMultiplexed: Bool, _ effects: inout Effects
    ) {
        scheduler.answered(id, isMultiplexed: isMultiplexed)
        if isMultiplexed { startTransfers(&effects) }
    }

    /// A download begins with the bytes of a partial, or starts over. It starts over if the origin
    /// has another version of the image, or does not say which version it has.
    package mutating func transferBegan(
        _ key: CacheKey, _ id: FlightID, with received: Int64, of total: Int64?,
        _ effects: inout Effects
    ) {
        guard downloads.flight(key, id) != nil else { return }
        disk.space.wrote(key, received)
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
        counters.bytesReceived += received - flight.intake.received
        disk.space.wrote(key, received)
        if downloads.update(key, { $0.receives(received, of: total, shape ?? $0.intake.shape) })
            == true
        {
            changed(key, &effects)
        }
    }

    /// The connections to the origin do not carry the transfer as well. It waits until another one ends.
    package mutating func transferCrowded(
        _ key: CacheKey, _ id: FlightID, _ effects: inout Effects
    ) {
        scheduler.crowded(id)
        if downloads.flight(key, id) != nil { requeue(key, &effects) }
        startTransfers(&effects)
    }

    // MARK: The end of a transfer

    /// A whole image arrived. The times run from the request to the beginning of the response, and to the last byte.
    package mutating func downloaded(
        _ key: CacheKey, _ id: FlightID, bytes: Int64, firstByte: Duration, whole: Duration
    ) {
        counters.downloaded(bytes: bytes, firstByte: firstByte, whole: whole)
        if let flight = downloads.flight(key, id) {
            store?.downloaded(from: flight.origin, in: whole)
        }
    }

    /// The whole image has arrived and been checked. It is published, unless its download has ended.
    package mutating func imageStaged(
        _ key: CacheKey, _ id: FlightID, size: Int64, isShareable: Bool = false,
        _ effects: inout Effects
    ) {
        transferEnded(id)
        guard let flight = downloads.flight(key, id) else { return startTransfers(&effects) }
        downloads.update(key) { $0.isShareable = isShareable }
        scheduler.accepted(flight.origin)
        // The last bytes are reported together with the end of the transfer.
        transferProgressed(key, id, received: size, total: size, &effects)
        publish(key, .publish(id, key), &effects)
    }

    /// The origin confirmed the entry that the download asked about.
    ///
    /// - Parameter isKept: whether the confirmation is kept in memory. If not, the record has to be written first.
    /// - Returns: whether the confirmation holds already.
    package mutating func confirmationArrived(
        _ key: CacheKey, _ id: FlightID, isShareable: Bool, lifetime: Int64, isKept: Bool,
        _ effects: inout Effects
    ) -> Bool {
        transferEnded(id)
        guard let flight = downloads.flight(key, id) else {
            startTransfers(&effects)
            return false
        }
        downloads.update(key) { ($0.isShareable, $0.confirmedLifetime) = (isShareable, lifetime) }
        scheduler.accepted(flight.origin)
        if isKept {
            downloads.publish(key, losses: disk.losses)
            effects.work.append(.keepConfirmation(id, key))
        } else {
            publish(key, .confirm(id, key), &effects)
        }
        return isKept
    }

    mutating func publish(_ key: CacheKey, _ work: Work, _ effects: inout Effects) {
        downloads.publish(key, losses: disk.losses)
        startTransfers(&effects)
        effects.work.append(work)
        changed(key, &effects)
    }

    /// The transfer has ended and its slot is free. Its download can continue or end.
    mutating func transferEnded(_ id: FlightID) { scheduler.ended(id) }

    /// A cancelled transfer has only its name lookup left. ``lookupEnded(_:_:)`` follows.
    package mutating func transferAbandoned(_ id: FlightID, _ effects: inout Effects) {
        scheduler.abandoned(id)
        startTransfers(&effects)
    }

    /// The name lookup that a cancelled transfer left behind has ended.
    package mutating func lookupEnded(_ id: FlightID, _ effects: inout Effects) {
        scheduler.lookupEnded(id)
        startTransfers(&effects)
    }

    // MARK: Ending a download

    /// Stops a download for which no caller waits any more. A download that is being published
    /// continues, and one that is nearly finished becomes detached.
    mutating func stopIfUnwanted(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key], !flight.isWanted, !flight.isPublishing else { return }
        // Before the response begins, it is unknown whether the download continues the partial.
        if flight.phase == .receiving,
            PartialPolicy.isWorthFinishing(
                received: flight.intake.received, total: flight.intake.total)
        {
            return setDetached(key, Flight.Detached())
        }
        abandon(key, flight, &effects)
        changed(key, &effects)
    }

    /// Stops the transfer of a download that has ended or been queued again.
    mutating func cancel(
        _ key: CacheKey, _ flight: Flight, discardsPartial: Bool, _ effects: inout Effects
    ) {
        if flight.isDeriving { return }
        effects.work.append(
            flight.isAsking
                ? .cancelLookup(flight.id, key, discardsPartial: discardsPartial)
                : .cancelTransfer(flight.id, key, discardsPartial: discardsPartial))
    }

    /// Ends a download for good, and stops its transfer.
    mutating func abandon(
        _ key: CacheKey, _ flight: Flight, discardsPartial: Bool = false, _ effects: inout Effects
    ) {
        endFlight(key, &effects)
        if flight.phase.isRunning {
            cancel(key, flight, discardsPartial: discardsPartial, &effects)
        }
    }

    /// Ends a download.
    package mutating func endFlight(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key] else { return }
        if let detached = flight.detached { waiters.detached.remove(key, of: detached.client) }
        if flight.isQueued { dequeue(key, flight) }
        if flight.waitsForStore { store?.lookups.forget(key) }
        leaveOriginal(key, flight, &effects)
        release(key, flight)
        _ = downloads.remove(key)
        if changes.noteEnd(key) { effects.notices.append(.endsArrived) }
        spaceReleased(&effects)
    }

    /// Undoes an attempt that brought no entry, or not the whole answer. Its download changes to what follows.
    ///
    /// - Parameter freesSpace: whether another download can start with the space.
    mutating func undo(
        _ key: CacheKey, atFront: Bool = false, freesSpace: Bool = true,
        _ effects: inout Effects, _ change: (inout Flight) -> Void
    ) {
        guard let flight = downloads[key] else { return }
        release(key, flight)
        downloads.update(key, change)
        if downloads[key]?.isQueued == true { enqueue(key, atFront: atFront) }
        changed(key, &effects)
        if freesSpace { spaceReleased(&effects) }
    }

    /// Releases everything that an attempt holds except its slot, which it keeps until its transfer ends. Written bytes
    /// that became no entry count as a partial until a probe says otherwise.
    private mutating func release(_ key: CacheKey, _ flight: Flight) {
        scheduler.stops(flight.id)
        disk.space.release(key, leavesPartial: !flight.isPublishing)
    }
}
