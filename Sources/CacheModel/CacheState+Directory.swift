package import CacheDisk
package import CacheKey
package import CacheValues

/// Lookups, and what is seen in the directory.
extension CacheState {
    /// The state of a key, or `nil` if its name has to be probed first. A lookup is not counted as a use.
    package func lookup(_ key: CacheKey, isAnnounced: Bool = false) -> Lookup? {
        // A file that is being published may not survive a power cut yet, so the download answers for it.
        if disk.needsProbe(key), !downloads.isPublishing(key) { return nil }
        return known(key, isAnnounced: isAnnounced)
    }

    /// The state of a key as a view shows it. `nil` if its name has to be probed first.
    package mutating func lookup(_ key: CacheKey, _ view: LookupView) -> Lookup? {
        if view == .taken { changes.take(key) }
        return lookup(key, isAnnounced: view != .newest)
    }

    /// Answers many lookups. Appends to `unknown` the positions of the keys that have to be probed first.
    package mutating func lookup(
        _ keys: ArraySlice<CacheKey>, _ view: LookupView, _ answers: inout [Lookup],
        unknown: inout [Int]
    ) {
        for key in keys {
            let answer = lookup(key, view)
            if answer == nil { unknown.append(answers.count) }
            answers.append(answer ?? .missing(nil))
        }
    }

    private func known(_ key: CacheKey, isAnnounced: Bool = false) -> Lookup {
        let progress = downloads[key].map { currentProgress(of: $0, isAnnounced) }
        if let facts = disk.facts(of: key) {
            return .cached(
                facts, failure: progress?.failure ?? failures[key],
                refresh: progress.map { Refresh($0) })
        }
        return progress.map { .inFlight($0) } ?? .missing(failures[key])
    }

    /// The progress of a download. While its host is paused, that is the reason why it waits.
    private func currentProgress(of flight: Flight, _ isAnnounced: Bool) -> Progress {
        if flight.awaitsOriginal, let original = downloads[CacheKey(flight.name.source)] {
            var progress = currentProgress(of: original, isAnnounced)
            progress.isPinned = flight.isPinned
            return progress
        }
        var progress = flight.progress(isAnnounced: isAnnounced)
        if flight.phase == .queued, let refusal = scheduler.refusal(of: flight.origin) {
            progress.failure = refusal
        } else if flight.phase == .queued, !scheduler.permitsPrefetches,
            urgency(of: flight) == .background
        {
            progress.failure = .prefetchOff
        }
        return progress
    }

    // MARK: Probes

    /// A probe of names outside the lock begins. ``probed(_:_:since:now:_:)``, ``scanned(_:since:_:)``,
    /// ``confirmed(_:_:_:since:_:)`` or ``probeEnded()`` follows.
    package mutating func probeBegan() -> ChangeEpochs.Start { disk.beginProbe() }

    /// A probe has ended whose results have been applied, or that had none.
    package mutating func probeEnded() { disk.endProbe() }

    /// A probe of one name has finished, and ends here.
    ///
    /// - Returns: the answer for the key. `nil` if the name changed during the probe and has to be
    ///   probed again.
    package mutating func probed(
        _ key: CacheKey, _ probe: EntryProbe, since start: ChangeEpochs.Start, now: FileTime,
        _ effects: inout Effects
    ) -> Lookup? {
        defer { disk.endProbe() }
        guard !hasPendingFile(key) else { return known(key) }
        guard disk.isCurrent(key, since: start) else { return nil }
        let isNew = take(key, probe, &effects)
        // Another program has just added the file, which counts as a use. During a scan the file's
        // access time shows its last use.
        if isNew, disk.validity == .complete { disk.used(key, at: now) }
        return known(key)
    }

    /// The scan has probed a batch of names. The probe ends here.
    package mutating func scanned(
        _ batch: [ScannedName], since start: ChangeEpochs.Start, _ effects: inout Effects
    ) {
        for name in batch {
            guard case .entry(let key, let probe) = name else {
                disk.scanned(name, since: start)
                continue
            }
            guard !hasPendingFile(key), disk.isCurrent(key, since: start) else { continue }
            _ = take(key, probe, isScan: true, &effects)
        }
        disk.endProbe()
    }

    /// Whether a probe of the name is meaningless, because the cache is about to replace its file,
    /// or to unlink the file of an entry that has left the index.
    private func hasPendingFile(_ key: CacheKey) -> Bool {
        downloads.isPublishing(key) || disk.space.unlinking.contains(key)
    }

    /// Applies the result of a probe.
    ///
    /// - Returns: whether the probe found an entry that the index did not have.
    private mutating func take(
        _ key: CacheKey, _ probe: EntryProbe, isScan: Bool = false, _ effects: inout Effects
    ) -> Bool {
        let before = changes.isObserved ? disk.facts(of: key) : nil
        let cameOrWent = disk.found(key, probe, isScan: isScan)
        switch probe {
        case .entry(let facts):
            if cameOrWent { failures.forget(key) }
            if before?.saysTheSame(as: facts) != true { changed(key, &effects) }
            return cameOrWent
        case .obstructed:
            let isNews = cameOrWent || failures.kind(of: key) != .obstructed
            failures.record(.directoryInTheWay(of: key), of: key)
            if isNews { changed(key, &effects) }
        case .absent, .unusable: nameBecameFree(key, hadEntry: cameOrWent, &effects)
        }
        return false
    }

    /// The name has no entry, and no directory obstructs it.
    private mutating func nameBecameFree(
        _ key: CacheKey, hadEntry: Bool, _ effects: inout Effects
    ) {
        let wasObstructed = failures.kind(of: key) == .obstructed && failures.forget(key)
        if hadEntry {
            effects.events.append(HistoryEvent(.removed, key, nil, because: .outside))
        }
        if hadEntry || wasObstructed { changed(key, &effects) }
    }

    // MARK: Changes in the directory

    /// The directory watch reports a change. The cache itself or another program made it.
    package mutating func directoryChanged(
        _ change: DirectoryChange, now: @autoclosure () -> FileTime, _ effects: inout Effects
    ) {
        let hadEntry = disk.directoryChanged(change, now: now)
        switch change {
        case .opened: break
        case .partialChanged(let key), .partialVanished(let key), .appeared(let key),
            .created(let key):
            downloads.update(key) { $0.observer.note(change) }
        case .vanished(let key):
            downloads.update(key) { $0.observer.note(change) }
            nameBecameFree(key, hadEntry: hadEntry, &effects)
        case .overflowed: if hadEntry { effects.notices.append(.scanNeeded) }
        }
    }

    /// Another directory lies at the path now, so nothing in memory is certain.
    ///
    /// - Parameter budget: the limits that follow from its file system. `nil` if they are not known.
    package mutating func directoryReplaced(budget: Budget? = nil, _ effects: inout Effects) {
        if disk.directoryReplaced(budget) { effects.notices.append(.scanNeeded) }
    }

    // MARK: Scans

    /// A scan of the whole directory begins.
    package mutating func scanBegan() { disk.scanBegan() }

    /// The scan sorts a batch of entries by use. Batches come from the most recently used to the least.
    package mutating func sorted(_ stretch: ArraySlice<Use>) {
        disk.sort(stretch)
    }

    /// The scan has ended, and its entries are sorted by use.
    ///
    /// - Parameter isWatched: whether the watch reports every change from now on.
    /// - Returns: `false` if the scan has to be repeated.
    package mutating func scanFinished(isWatched: Bool) -> Bool {
        isDraining || disk.scanFinished(isWatched: isWatched)
    }

    /// Takes the postponed work. It can begin because the directory has been read or will not be read.
    package mutating func takePostponed() -> [@Sendable () -> Void] { disk.takePostponed() }

    // MARK: Partials

    /// A probe of a partial's name begins. ``partialProbed(_:_:since:)`` or ``partialUnreadable()`` follows.
    package mutating func partialProbeBegan() -> ChangeEpochs.Start { disk.beginPartialProbe() }

    /// A probe of a partial's name has found that many bytes, or `nil` if there is no partial.
    package mutating func partialProbed(
        _ key: CacheKey, _ bytes: Int64?, since start: ChangeEpochs.Start
    ) {
        disk.partialProbed(key, bytes, since: start)
    }

    /// A probe of a partial's name has failed. The name is probed again.
    package mutating func partialUnreadable() { disk.endPartialProbe() }

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

    // MARK: Use

    /// A caller opened the file of an entry.
    package mutating func opened(_ key: CacheKey, at now: FileTime) { disk.used(key, at: now) }

    /// The file of an entry could not be opened, so its name is probed again.
    package mutating func fileMissed(_ key: CacheKey) { disk.becameDirty(key) }

    /// The cache is about to open the file itself, which is not a use.
    package mutating func openingItself(_ key: CacheKey) { disk.accessTimes.openingItself(key) }

    /// The cache could not open the file, so the watch will not report an opening.
    package mutating func didNotOpen(_ key: CacheKey) { disk.accessTimes.didNotOpen(key) }

    /// Takes some of the times of use that have not been written to the files, in no order.
    /// ``accessTimesFlushed(_:)`` follows.
    package mutating func takeAccessTimes(limit: Int) -> [(key: CacheKey, time: FileTime)] {
        disk.takeAccessTimes(limit: limit)
    }

    package mutating func accessTimesFlushed(_ keys: some Sequence<CacheKey>) {
        disk.accessTimes.flushed(keys)
    }
}

extension EntryFacts {
    /// Whether both look the same to an observer. A use and a change in disk blocks are not reported, and neither is
    /// which file holds the bytes and which attributes it has.
    fileprivate func saysTheSame(as other: EntryFacts) -> Bool {
        var same = other
        (same.allocated, same.lastUsedAt, same.removeAt) = (allocated, lastUsedAt, removeAt)
        (same.inode, same.isLinked, same.digestPrefix) = (inode, isLinked, digestPrefix)
        (same.awaitsAttributes, same.hasReturned) = (awaitsAttributes, hasReturned)
        return self == same
    }
}

extension Failure {
    fileprivate static let prefetchOff = Failure(
        .prefetchOff,
        "prefetching is off (CACHED_PREFETCH); a fetch with another priority starts it")

    fileprivate static func directoryInTheWay(of key: CacheKey) -> Failure {
        Failure(.obstructed, "a directory lies under the name \(key); move it away")
    }
}
