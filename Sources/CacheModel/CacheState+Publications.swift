package import CacheDisk
package import CacheFetching
package import CacheKey
package import CacheValues

/// Images become entries, and origins confirm entries.
extension CacheState {
    /// A staged image became an entry, or its publication failed.
    package mutating func published(_ publication: Publication, _ effects: inout Effects) {
        let key = publication.key
        let isCurrent = publication.probeStart.map { disk.isCurrent(key, since: $0) } ?? false
        let flight = fetching.publicationEnded(key, publication.flight)
        if publication.isLostByOthers, !flight.wasLost, fetching.mayContinue(flight) {
            fetching.lost(key, &effects)
        } else if case .success(let facts) = publication.result,
            fetching.isOnlyPartOfAnswer(flight)
        {
            enter(facts, publication, flight, isCurrent: isCurrent, &effects)
            fetching.answerInPart(key, flight, &effects)
            fetching.limitsChecked(&effects)
        } else {
            fetching.endFlight(key, &effects)
            take(publication, flight, isCurrent: isCurrent, &effects)
            fetching.limitsChecked(&effects)
        }
        fetching.startTransfers(&effects)
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
            fetching.failed(key, flight, failure, &effects)
        case .success(let facts) where flight.isRemovalPending:
            effects.work.append(.unlink(disk.unlinkPending(key, facts: facts)))
            fetching.failed(key, flight, .removed, &effects)
        case .success(let facts):
            enter(facts, publication, flight, isCurrent: isCurrent, &effects)
            fetching.settle(key, flight.waiters, nil, &effects)
            fetching.changed(key, &effects)
            fetching.putInStore(key, flight, &effects)
        }
    }

    /// Enters a published image in the index.
    ///
    /// - Parameter isCurrent: whether the facts come from a probe of the name that is still true.
    private mutating func enter(
        _ facts: EntryFacts, _ publication: Publication, _ flight: Flight, isCurrent: Bool,
        _ effects: inout Effects
    ) {
        let key = publication.key
        fetching.counters.published(after: publication.time)
        effects.events.append(
            HistoryEvent(
                flight.name.side == nil ? .fetched : .derived, key, flight.name.string,
                bytes: facts.size, because: flight.source == .store ? .store : nil))
        fetching.forgetFailure(of: key)
        fetching.originalChanged(flight.name)
        // The name has to be probed if another program touched it after the image was published.
        disk.published(
            key, facts,
            isUndisturbed: isCurrent || flight.observer.isUndisturbed(losses: disk.losses),
            leavesNoPartial: flight.observer.leavesNoPartial(losses: disk.losses))
    }

    // MARK: Confirmations

    /// The origin confirmed the entry that the download asked about.
    ///
    /// - Parameter facts: those of the entry from now on. `nil` if its record has to be written first.
    package mutating func entryConfirmed(
        _ key: CacheKey, _ id: FlightID, isShareable: Bool = false, lifetime: Int64 = 0,
        facts: EntryFacts? = nil, _ effects: inout Effects
    ) {
        let isConfirmed = fetching.confirmationArrived(
            key, id, isShareable: isShareable, lifetime: lifetime, isKept: facts != nil, &effects)
        guard isConfirmed, let facts else { return }
        confirmed(key, id, .stored(facts), isCurrent: true, &effects)
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

    private mutating func confirmed(
        _ key: CacheKey, _ id: FlightID, _ end: RevalidationEnd, isCurrent: Bool,
        _ effects: inout Effects
    ) {
        let flight = fetching.publicationEnded(key, id)
        if case .gone = end, fetching.mayContinue(flight) {
            fetching.lost(key, &effects)
            return fetching.startTransfers(&effects)
        }
        fetching.endFlight(key, &effects)
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
        fetching.settle(key, flight.waiters, failure, &effects)
        if failure == nil { fetching.renewInStore(key, flight, end, &effects) }
        fetching.changed(key, &effects)
        fetching.startTransfers(&effects)
    }

    private mutating func takeConfirmed(
        _ key: CacheKey, _ end: RevalidationEnd, isCurrent: Bool
    ) {
        if case .stored(let facts) = end {
            disk.confirmed(key, facts, isCurrent: isCurrent)
        } else {
            disk.becameDirty(key)
        }
        fetching.counters.revalidated += 1
        fetching.forgetFailure(of: key)
    }

    // MARK: Adoption

    /// The search for an entry with the bytes of an image has ended. Without the bytes, the image is downloaded.
    ///
    /// - Parameter facts: those of the image, which is an entry with these bytes now, or was one. `nil` if no entry
    ///   has the bytes.
    package mutating func adopted(
        _ key: CacheKey, _ id: FlightID, _ facts: EntryFacts?, _ effects: inout Effects
    ) {
        let flight = fetching.publicationEnded(key, id)
        if facts == nil, fetching.mayContinue(flight) {
            return fetching.notAdopted(key, &effects)
        }
        fetching.endFlight(key, &effects)
        var failure: Failure?
        if flight.isRemovalPending {
            failure = .removed
            if facts != nil {
                disk.becameDirty(key)
                effects.work.append(.unlink(disk.unlinkPending(key, facts: nil)))
            }
        } else if let facts {
            fetching.counters.hits += 1
            fetching.forgetFailure(of: key)
            // Another program may have changed the file meanwhile.
            disk.confirmed(key, facts, isCurrent: false)
        } else {
            failure = .shuttingDown
        }
        fetching.settle(key, flight.waiters, failure, &effects)
        fetching.changed(key, &effects)
        fetching.limitsChecked(&effects)
        fetching.startTransfers(&effects)
    }
}
