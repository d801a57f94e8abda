package import CacheDisk
package import CacheKey
package import CacheValues

/// Images become entries, and origins confirm entries.
extension CacheState {
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
        originalChanged(flight.name)
        // The name has to be probed if another program touched it after the image was published.
        let isUndisturbed =
            isCurrent || flight.observer.isUndisturbed(losses: catalog.losses)
        catalog.published(key, facts, isUndisturbed: isUndisturbed)
        noStoreGrace.note(key, facts.removeAt)
        settlePartial(key, flight)
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
}

extension Failure {
    package static let removed = Failure(
        .removed, "it was removed while it was on its way; ask again")
}
