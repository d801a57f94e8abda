package import CacheKey

/// Lookups, and what the directory shows.
extension CacheState {
    /// What is known of a key; `nil` if its name has to be probed first. Touches nothing.
    package func lookup(_ key: CacheKey, isAnnounced: Bool = false) -> Lookup? {
        // What is being published may not survive a power cut yet; its flight tells when it does.
        if catalog.needsProbe(key), !downloads.isPublishing(key) { return nil }
        return known(key, isAnnounced: isAnnounced)
    }

    /// The same for a view of downloads.
    package mutating func lookup(_ key: CacheKey, _ view: LookupView) -> Lookup? {
        if view == .taken { changes.take(key) }
        return lookup(key, isAnnounced: view != .newest)
    }

    /// Answers many lookups; appends the places of keys that have to be probed first to `unknown`.
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
        let progress = downloads[key]?.progress(isAnnounced: isAnnounced)
        if let facts = catalog.facts(of: key) {
            return .cached(
                facts, failure: progress?.failure ?? failures[key],
                refresh: progress.map { Refresh($0) })
        }
        return progress.map { .inFlight($0) } ?? .missing(failures[key])
    }

    /// A name was probed, begun with ``Catalog/beginProbe()``.
    ///
    /// - Returns: the answer for the key; `nil` if the name changed meanwhile and has to be probed again.
    package mutating func probed(
        _ key: CacheKey, _ probe: EntryProbe, since start: ChangeEpochs.Start, now: FileTime,
        _ effects: inout Effects
    ) -> Lookup? {
        guard !hasPendingFile(key) else { return known(key) }
        guard catalog.isCurrent(key, since: start) else { return nil }
        let isNew = take(key, probe, &effects)
        // Somebody has just put it there. While the directory is read, its file tells of its use.
        if isNew, catalog.validity == .complete { catalog.used(key, at: now) }
        return known(key)
    }

    /// The scan probed a batch of names, begun with ``Catalog/beginProbe()``, which ends with this.
    package mutating func scanned(
        _ batch: [ScannedName], since start: ChangeEpochs.Start, _ effects: inout Effects
    ) {
        for name in batch {
            switch name {
            case .entry(let key, let probe):
                guard !hasPendingFile(key), catalog.isCurrent(key, since: start) else { continue }
                _ = take(key, probe, isScan: true, &effects)
            case .partial(let key, let bytes):
                // It may have become an entry meanwhile.
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

    /// The file under the name is about to be replaced, or about to be unlinked and no entry any more: a
    /// probe says nothing.
    private func hasPendingFile(_ key: CacheKey) -> Bool {
        downloads.isPublishing(key) || space.unlinking.contains(key)
    }

    /// Takes in what a probe has seen; whether that is an entry the catalog did not know.
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

    /// There is no entry, and no directory in its way.
    private mutating func vanished(_ key: CacheKey, _ effects: inout Effects) {
        let isFree = failures.kind(of: key) == .obstructed && failures.forget(key)
        if catalog.vanished(key) || isFree { changed(key, &effects) }
    }

    // MARK: Changes in the directory

    /// The watch reports a change, by the cache itself or by somebody else.
    package mutating func directoryChanged(
        _ change: DirectoryChange, now: @autoclosure () -> FileTime, _ effects: inout Effects
    ) {
        switch change {
        case .opened(let key):
            if catalog.isOpenedByOthers(key) { catalog.used(key, at: now()) }
        case .partialChanged(let key), .partialVanished(let key):
            retryEviction(of: .partial(key))
            let isOwn = downloads.update(key) { flight in
                flight.observer.note(change)
                return flight.hasSpace
            }
            if isOwn != true { space.partials.becameDirty(key) }
        case .appeared(let key), .created(let key):
            catalog.becameDirty(key)
            retryEviction(of: .entry(key))
            downloads.update(key) { $0.observer.note(change) }
        case .vanished(let key):
            downloads.update(key) { $0.observer.note(change) }
            retryEviction(of: .entry(key))
            vanished(key, &effects)
        case .overflowed:
            if catalog.validity == .complete { effects.notices.append(.scanNeeded) }
            changesLost()
        }
    }

    /// Names lead into another directory: nothing that is known is certain.
    package mutating func directoryReplaced(_ effects: inout Effects) {
        space.directoryReplaced()
        _ = space.retryAllEvictions()
        if catalog.directoryReplaced() { effects.notices.append(.scanNeeded) }
    }

    private mutating func changesLost() {
        _ = space.retryAllEvictions()
        catalog.changesLost()
    }

    // MARK: Scans

    /// A scan of the whole directory begins.
    package mutating func scanBegan() {
        catalog.scanBegan()
        space.partials.allNeedProbe()
    }

    /// The scan is over, and what it found is sorted.
    ///
    /// - Parameter isWatched: whether every change from now on is seen.
    /// - Returns: `false` if it has to be repeated.
    package mutating func scanFinished(isWatched: Bool) -> Bool {
        isDraining || catalog.scanFinished(isWatched: isWatched)
    }

    /// The directory is read, or will not be: what waited for that can begin.
    package mutating func takePostponed() -> [@Sendable () -> Void] {
        defer { space.postponed = [] }
        return space.postponed
    }

    // MARK: Partials

    /// The name of a partial was probed, begun with ``Partials/beginProbe()``, which ends with this. If it
    /// changed meanwhile, it is probed again.
    package mutating func partialProbed(
        _ key: CacheKey, _ bytes: Int64?, since start: ChangeEpochs.Start
    ) {
        if space.partials.isCurrent(key, since: start) { partialProbed(key, bytes) }
        space.partials.endProbe()
    }

    /// What lies under the name of a partial; `nil`: nothing.
    package mutating func partialProbed(_ key: CacheKey, _ bytes: Int64?) {
        space.partials.clean(key)
        // The reservation of a download covers its own partial.
        if !space.holders.contains(key) { space.partials[key] = bytes }
    }

    /// The keys of all partials that no download is about to use.
    package var restingPartials: [CacheKey] {
        space.partials.keys.filter { !downloads.contains($0) }
    }

    /// A partial has become too old, unless somebody asked for it just now.
    package mutating func partialExpired(_ key: CacheKey, _ effects: inout Effects) {
        guard !downloads.contains(key), space.partials.mayHold(key) else { return }
        space.partials.needsProbe(key)
        effects.work.append(.discardPartial(key))
    }
}

extension EntryFacts {
    /// Whether an observer would be told the same of both: uses and disk blocks are no news.
    fileprivate func saysTheSame(as other: EntryFacts) -> Bool {
        var same = other
        (same.allocated, same.lastUsedAt, same.removeAt) = (allocated, lastUsedAt, removeAt)
        return self == same
    }
}

extension Failure {
    fileprivate static func directoryInTheWay(of key: CacheKey) -> Failure {
        Failure(.obstructed, "a directory lies under the name \(key); move it away")
    }
}
