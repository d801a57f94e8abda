import CacheDisk
package import CacheKey
package import CacheValues

/// The end of an attempt to give an image the bytes of an entry.
package enum AdoptionEnd: Sendable {
    /// The image is an entry with these bytes now, or was one.
    case adopted(EntryFacts)
    /// No entry has the bytes.
    case none
}

/// Images whose digest is known before they are downloaded. If any entry has the bytes, nothing is downloaded.
extension CacheState {
    /// Whether an entry may have the bytes of an image that is not being downloaded.
    func mayAdopt(_ key: CacheKey, _ digest: ContentDigest) -> Bool {
        !isDraining && !downloads.contains(key)
            && !disk.index.keys(digestPrefix: digest.prefix, limit: 1).isEmpty
    }

    /// Begins to look for an entry with the bytes of an image. Only the files tell their whole digests.
    mutating func adopt(
        _ key: CacheKey, _ digest: ContentDigest, for waiter: WaiterID?, _ options: FetchOptions,
        _ effects: inout Effects
    ) {
        guard let flight = downloads[key] else { return }
        downloads.adopt(key, losses: disk.losses)
        if let waiter { wait(waiter, for: key) } else { detach(key, options) }
        effects.work.append(.adopt(flight.id, key, digest))
        changed(key, &effects)
    }

    /// The search has ended. Without the bytes, the image is downloaded.
    package mutating func adopted(
        _ key: CacheKey, _ id: FlightID, _ end: AdoptionEnd, _ effects: inout Effects
    ) {
        let flight = publicationEnded(key, id)
        if case .none = end, mayContinue(flight) {
            counters.misses += 1
            downloads.update(key) { $0.becomesDownload() }
            askStoreOrQueue(key)
            changed(key, &effects)
            return startTransfers(&effects)
        }
        endFlight(key, &effects)
        var failure: Failure?
        switch end {
        case .adopted where flight.isRemovalPending:
            disk.becameDirty(key)
            effects.work.append(.unlink(disk.unlinkPending(key, facts: nil)))
            failure = .removed
        case .adopted(let facts):
            counters.hits += 1
            failures.forget(key)
            // Another program may have changed the file meanwhile.
            disk.confirmed(key, facts, isCurrent: false)
        case .none: failure = flight.isRemovalPending ? .removed : .shuttingDown
        }
        settle(key, flight.waiters, failure, &effects)
        changed(key, &effects)
        limitsChecked(&effects)
        startTransfers(&effects)
    }
}
