package import CacheDisk
package import CacheKey
package import CacheValues

/// Lookups, and events from the directory.
extension CacheState {
    /// The state of a key, or `nil` if its name has to be probed first. A lookup is not counted as a use.
    package func lookup(_ key: CacheKey, isAnnounced: Bool = false) -> Lookup? {
        // A file that is being published may not survive a power cut yet, so the download answers for it.
        if catalog.needsProbe(key), !downloads.isPublishing(key) { return nil }
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
        if let facts = catalog.facts(of: key) {
            return .cached(
                facts, failure: progress?.failure ?? failures[key],
                refresh: progress.map { Refresh($0) })
        }
        return progress.map { .inFlight($0) } ?? .missing(failures[key])
    }

    /// The progress of a download. While its host is paused, that is the reason why it waits.
    private func currentProgress(of flight: Flight, _ isAnnounced: Bool) -> Progress {
        if flight.awaitsOriginal, let original = downloads[CacheKey(flight.name.original)] {
            var progress = currentProgress(of: original, isAnnounced)
            progress.isPinned = flight.isPinned
            return progress
        }
        var progress = flight.progress(isAnnounced: isAnnounced)
        if flight.phase == .queued, let refusal = scheduler.refusal(of: flight.origin) {
            progress.failure = refusal
        }
        return progress
    }

    /// A probe of one name has finished. It began with ``Catalog/beginProbe()``.
    ///
    /// - Returns: the answer for the key. `nil` if the name changed during the probe and has to be
    ///   probed again.
    package mutating func probed(
        _ key: CacheKey, _ probe: EntryProbe, since start: ChangeEpochs.Start, now: FileTime,
        _ effects: inout Effects
    ) -> Lookup? {
        guard !hasPendingFile(key) else { return known(key) }
        guard catalog.isCurrent(key, since: start) else { return nil }
        let isNew = take(key, probe, &effects)
        // Another program has just added the file, which counts as a use. During a scan the file's
        // access time shows its last use.
        if isNew, catalog.validity == .complete { catalog.used(key, at: now) }
        return known(key)
    }

    /// The scan has probed a batch of names. The probe began with ``Catalog/beginProbe()`` and ends here.
    package mutating func scanned(
        _ batch: [ScannedName], since start: ChangeEpochs.Start, _ effects: inout Effects
    ) {
        for name in batch {
            switch name {
            case .entry(let key, let probe):
                guard !hasPendingFile(key), catalog.isCurrent(key, since: start) else { continue }
                _ = take(key, probe, isScan: true, &effects)
            case .partial(let key, let bytes):
                // The partial may have become an entry since the probe.
                if !catalog.isCurrent(key, since: start) {
                    space.partials.needsProbe(key)
                } else if !space.partials.dirtyNames.contains(key) {
                    partialProbed(key, bytes)
                }
            case .unreadable(.entry(let key)): catalog.becameDirty(key)
            case .unreadable(.partial(let key)): space.partials.needsProbe(key)
            }
        }
        catalog.endProbe()
    }

    /// Whether a probe of the name is meaningless, because the cache is about to replace its file,
    /// or to unlink the file of an entry that has left the index.
    private func hasPendingFile(_ key: CacheKey) -> Bool {
        downloads.isPublishing(key) || space.unlinking.contains(key)
    }

    /// Applies the result of a probe.
    ///
    /// - Returns: whether the probe found an entry that the catalog did not know.
    private mutating func take(
        _ key: CacheKey, _ probe: EntryProbe, isScan: Bool = false, _ effects: inout Effects
    ) -> Bool {
        catalog.clean(key)
        switch probe {
        case .entry(let facts):
            let before = changes.isObserved ? catalog.facts(of: key) : nil
            let isNew = catalog.insert(key, facts, isOldest: isScan)
            if isNew { failures.forget(key) }
            noStoreGrace.note(key, facts.removeAt)
            if before?.saysTheSame(as: facts) != true { changed(key, &effects) }
            return isNew
        case .obstructed:
            let isNews = catalog.vanished(key) || failures.kind(of: key) != .obstructed
            failures.record(.directoryInTheWay(of: key), of: key)
            if isNews { changed(key, &effects) }
        case .absent, .unusable: vanished(key, &effects)
        }
        return false
    }

    /// The name has no entry, and no directory obstructs it.
    private mutating func vanished(_ key: CacheKey, _ effects: inout Effects) {
        let isFree = failures.kind(of: key) == .obstructed && failures.forget(key)
        if catalog.vanished(key) || isFree { changed(key, &effects) }
    }

    // MARK: Changes in the directory

    /// The directory watch reports a change. The cache itself or another program made it.
    package mutating func directoryChanged(
        _ change: DirectoryChange, now: @autoclosure () -> FileTime, _ effects: inout Effects
    ) {
        switch change {
        case .opened(let key):
            if catalog.isOpenedByOthers(key) { catalog.used(key, at: now()) }
        case .partialChanged(let key), .partialVanished(let key):
            space.retryEviction(of: .partial(key))
            let isOwn = downloads.update(key) { flight in
                flight.observer.note(change)
                return flight.hasSpace
            }
            if isOwn != true { space.partials.becameDirty(key) }
        case .appeared(let key), .created(let key):
            catalog.becameDirty(key)
            space.retryEviction(of: .entry(key))
            downloads.update(key) { $0.observer.note(change) }
        case .vanished(let key):
            downloads.update(key) { $0.observer.note(change) }
            space.retryEviction(of: .entry(key))
            vanished(key, &effects)
        case .overflowed:
            if catalog.validity == .complete { effects.notices.append(.scanNeeded) }
            changesLost()
        }
    }

    /// Another directory lies at the path now, so nothing in memory is certain.
    package mutating func directoryReplaced(_ effects: inout Effects) {
        space.directoryReplaced()
        space.retryAllEvictions()
        if catalog.directoryReplaced() { effects.notices.append(.scanNeeded) }
    }

    private mutating func changesLost() {
        space.retryAllEvictions()
        catalog.changesLost()
    }

    // MARK: Scans

    /// A scan of the whole directory begins.
    package mutating func scanBegan() {
        catalog.scanBegan()
        space.partials.allNeedProbe()
    }

    /// The scan has ended, and its entries are sorted by use.
    ///
    /// - Parameter isWatched: whether the watch reports every change from now on.
    /// - Returns: `false` if the scan has to be repeated.
    package mutating func scanFinished(isWatched: Bool) -> Bool {
        isDraining || catalog.scanFinished(isWatched: isWatched)
    }

    /// Takes the postponed work. It can begin because the directory has been read or will not be read.
    package mutating func takePostponed() -> [@Sendable () -> Void] {
        defer { space.postponed = [] }
        return space.postponed
    }

    // MARK: Partials

    /// A probe of a partial's name has finished. It began with ``SideFiles/beginProbe()`` and ends
    /// here. A name that changed during the probe is probed again.
    package mutating func partialProbed(
        _ key: CacheKey, _ bytes: Int64?, since start: ChangeEpochs.Start
    ) {
        if space.partials.isCurrent(key, since: start) { partialProbed(key, bytes) }
        space.partials.endProbe()
    }

    /// Records the bytes that the disk holds for a partial. `nil` if there is no partial.
    package mutating func partialProbed(_ key: CacheKey, _ bytes: Int64?) {
        space.partials.clean(key)
        // The reservation of a download covers its own partial.
        if !space.holders.contains(key) { space.partials[key] = bytes }
    }

    /// The keys of all partials that no download is about to use.
    package var restingPartials: [CacheKey] {
        space.partials.keys.filter { !downloads.contains($0) }
    }

    /// Discards a partial that has become too old, unless a caller has just requested its image.
    package mutating func partialExpired(_ key: CacheKey, _ effects: inout Effects) {
        guard !downloads.contains(key), space.partials.mayHold(key) else { return }
        space.partials.needsProbe(key)
        effects.work.append(.discardPartial(key))
    }
}

extension EntryFacts {
    /// Whether both look the same to an observer. A use and a change in disk blocks are not reported, and neither is
    /// which file holds the bytes.
    fileprivate func saysTheSame(as other: EntryFacts) -> Bool {
        var same = other
        (same.allocated, same.lastUsedAt, same.removeAt) = (allocated, lastUsedAt, removeAt)
        (same.inode, same.isLinked, same.digestPrefix) = (inode, isLinked, digestPrefix)
        return self == same
    }
}

extension Failure {
    fileprivate static func directoryInTheWay(of key: CacheKey) -> Failure {
        Failure(.obstructed, "a directory lies under the name \(key); move it away")
    }
}
