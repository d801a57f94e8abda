package import CacheDisk
package import CacheKey
package import CacheValues

/// Images become entries, and origins confirm entries.
extension CacheState {
    /// A staged image became an entry, or its publication failed.
    package mutating func published(_ publication: Publication, _ effects: inout Effects) {
        let key = publication.key
        let isCurrent = publication.probeStart.map { disk.isCurrent(key, since: $0) } ?? false
        let flight = publicationEnded(key, publication.flight)
        if publication.isLostByOthers, !flight.wasLost, mayContinue(flight) {
            downloadAgain(key, &effects)
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
        let isCurrent = disk.isCurrent(key, since: start)
        disk.endProbe()
        confirmed(key, id, end, isCurrent: isCurrent, &effects)
    }

    mutating func confirmed(
        _ key: CacheKey, _ id: FlightID, _ end: RevalidationEnd, isCurrent: Bool,
        _ effects: inout Effects
    ) {
        let flight = publicationEnded(key, id)
        if case .gone = end, mayContinue(flight) {
            downloadAgain(key, &effects)
            return startTransfers(&effects)
        }
        endFlight(key, &effects)
        var failure: Failure?
        switch end {
        case _ where flight.isRemovalPending:
            let facts: EntryFacts? = if case .stored(let facts) = end { facts } else { nil }
            effects.work.append(.unlink(disk.unlinkPending(key, facts: facts)))
            failure = .removed
        case .gone: failure = .shuttingDown
        case .stored, .unstored:
            takeConfirmed(key, end, isCurrent: isCurrent)
            effects.events.append(HistoryEvent(.confirmed, key, flight.name.string))
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
            disk.confirmed(key, facts, isCurrent: isCurrent)
        } else {
            disk.becameDirty(key)
        }
        counters.revalidated += 1
        failures.forget(key)
    }

    /// Whether a download whose publication brought nothing, or not the whole answer, has another attempt.
    func mayContinue(_ flight: Flight) -> Bool {
        flight.isWanted && !flight.isRemovalPending && !isDraining
    }

    mutating func publicationEnded(_ key: CacheKey, _ id: FlightID) -> Flight {
        disk.publicationEnded(key)
        guard let flight = downloads.flight(key, id), flight.isPublishing else {
            preconditionFailure("\(key) was published without a download")
        }
        downloads.publishingEnded()
        return flight
    }

    /// Queues the download again, at most once. Another program removed its file, or a failure of
    /// other files lost it.
    private mutating func downloadAgain(
        _ key: CacheKey, _ effects: inout Effects
    ) {
        disk.becameDirty(key)
        undo(key, &effects) { $0.requeuesAfterLoss() }
    }

    /// - Parameter isCurrent: whether the facts come from a probe of the name that is still true.
    private mutating func take(
        _ publication: Publication, _ flight: Flight, isCurrent: Bool, _ effects: inout Effects
    ) {
        let key = publication.key
        switch publication.result {
        case .failure(let failure):
            if flight.isRemovalPending {
                effects.work.append(.unlink(disk.unlinkPending(key, facts: nil)))
            } else {
                disk.becameDirty(key)
            }
            failed(key, flight, failure, &effects)
        case .success(let facts) where flight.isRemovalPending:
            effects.work.append(.unlink(disk.unlinkPending(key, facts: facts)))
            failed(key, flight, .removed, &effects)
        case .success(let facts):
            enter(facts, publication, flight, isCurrent: isCurrent, &effects)
            settle(key, flight.waiters, nil, &effects)
            changed(key, &effects)
            putInStore(key, flight, &effects)
        }
    }

    /// Enters a published image in the index.
    ///
    /// - Parameter isCurrent: whether the facts come from a probe of the name that is still true.
    mutating func enter(
        _ facts: EntryFacts, _ publication: Publication, _ flight: Flight, isCurrent: Bool,
        _ effects: inout Effects
    ) {
        let key = publication.key
        counters.published(after: publication.time)
        effects.events.append(
            HistoryEvent(
                flight.name.side == nil ? .fetched : .derived, key, flight.name.string,
                bytes: facts.size, because: flight.source == .store ? .store : nil))
        failures.forget(key)
        originalChanged(flight.name)
        // The name has to be probed if another program touched it after the image was published.
        disk.published(
            key, facts,
            isUndisturbed: isCurrent || flight.observer.isUndisturbed(losses: disk.losses),
            leavesNoPartial: flight.observer.leavesNoPartial(losses: disk.losses))
    }
}

extension Failure {
    package static let removed = Failure(
        .removed, "it was removed while it was on its way; ask again")
}
