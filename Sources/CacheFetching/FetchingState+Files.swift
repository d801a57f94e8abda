package import CacheDisk
package import CacheKey
package import CacheValues

/// What the seam tells downloads and callers of the files of their images.
extension FetchingState {
    /// The watch reports a change of the file or the partial of a key.
    package mutating func fileChanged(_ key: CacheKey, _ change: DirectoryChange) {
        downloads.update(key) { $0.observer.note(change) }
    }

    /// A directory lies under the name of an entry. Returns whether that is news.
    package mutating func obstructed(_ key: CacheKey) -> Bool {
        defer { failures.record(.directoryInTheWay(of: key), of: key) }
        return failures.kind(of: key) != .obstructed
    }

    /// No directory lies under the name. Returns whether one did.
    package mutating func cleared(_ key: CacheKey) -> Bool {
        failures.kind(of: key) == .obstructed && failures.forget(key)
    }

    /// A user removes the image, so its download stops. An image that is being published is removed after that.
    package mutating func removed(
        _ key: CacheKey, by user: UserID?, _ effects: inout Effects
    ) {
        guard let flight = downloads[key] else {
            if disk.space.partials.mayHold(key) || disk.validity != .complete {
                effects.work.append(.discardPartial(key))
            }
            return
        }
        if !disk.contains(key) {
            effects.events.append(
                HistoryEvent(.removed, key, flight.name.string, because: .cancelled, by: user))
        }
        guard !flight.isPublishing else {
            downloads.update(key) { $0.setRemovalPending(true) }
            return
        }
        abandon(key, flight, discardsPartial: true, &effects)
        if !flight.phase.isRunning { effects.work.append(.discardPartial(key)) }
        settle(key, flight.waiters, .removed, &effects)
        changed(key, &effects)
        startTransfers(&effects)
    }

    /// Sets or clears the pin of the image that a download will publish. Returns whether there is a download.
    package mutating func setPinned(_ key: CacheKey, _ isPinned: Bool) -> Bool {
        downloads.update(key) { $0.isPinned = isPinned } != nil
    }

    /// Whether the image to be published for a key has to be pinned. A pin stays when a new version
    /// replaces the entry, or a damaged file was removed.
    package func isPinned(_ key: CacheKey) -> Bool {
        downloads[key]?.isPinned ?? disk.isPinned(key)
    }

    /// Forgets why the last attempt failed. Returns whether one had.
    @discardableResult
    package mutating func forgetFailure(of key: CacheKey) -> Bool { failures.forget(key) }

    /// Forgets all failures of one kind.
    package mutating func forgetFailures(_ kind: Failure.Kind, _ effects: inout Effects) {
        for key in failures.forgetAll(kind) { changed(key, &effects) }
    }

    // MARK: Partials

    /// The keys of all partials that no download is about to use.
    package var restingPartials: [CacheKey] {
        disk.space.partials.keys.filter { !downloads.contains($0) }
    }

    /// Discards a partial that has become too old, unless a caller has just requested its image.
    package mutating func partialExpired(_ key: CacheKey, _ effects: inout Effects) {
        guard !downloads.contains(key), disk.space.partials.mayHold(key) else { return }
        disk.discardsPartial(key)
        effects.work.append(.discardPartial(key))
    }

    // MARK: Publications

    /// The publication of an image, its confirmation or its adoption has ended.
    package mutating func publicationEnded(_ key: CacheKey, _ id: FlightID) -> Flight {
        disk.publicationEnded(key)
        guard let flight = downloads.flight(key, id), flight.isPublishing else {
            preconditionFailure("\(key) was published without a download")
        }
        downloads.publishingEnded()
        return flight
    }

    /// Whether a download whose publication brought nothing, or not the whole answer, has another attempt.
    package func mayContinue(_ flight: Flight) -> Bool {
        flight.isWanted && !flight.isRemovalPending && !isDraining
    }

    /// Queues a download again, at most once. Another program removed its file, or a failure of
    /// other files lost it.
    package mutating func lost(_ key: CacheKey, _ effects: inout Effects) {
        disk.becameDirty(key)
        undo(key, &effects) { $0.requeuesAfterLoss() }
    }

    // MARK: Adoption

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

    /// No entry has the bytes of an image that is wanted, so it is downloaded.
    package mutating func notAdopted(_ key: CacheKey, _ effects: inout Effects) {
        counters.misses += 1
        downloads.update(key) { $0.becomesDownload() }
        askStoreOrQueue(key)
        changed(key, &effects)
        startTransfers(&effects)
    }
}

extension Failure {
    fileprivate static func directoryInTheWay(of key: CacheKey) -> Failure {
        Failure(.obstructed, "a directory lies under the name \(key); move it away")
    }
}
