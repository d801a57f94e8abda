internal import CacheKey

/// Questions, and what the directory shows.
extension CacheState {
    /// What is known of a key; `nil` when its name has to be looked at first. Touches nothing.
    func lookup(_ key: CacheKey) -> Lookup? {
        mustProbe(key) ? nil : known(key)
    }

    /// The answer from memory to a question of a kind; `nil` when the name has to be looked at first.
    mutating func lookup(_ key: CacheKey, _ view: LookupView) -> Lookup? {
        if view == .taken { changes.take(key) }
        return mustProbe(key) ? nil : known(key, isAnnounced: view != .newest)
    }

    private func mustProbe(_ key: CacheKey) -> Bool {
        let isDoubtful =
            switch trust {
            case .blind: true
            case .whole: !dirtyNames.isEmpty && dirtyNames.contains(key)
            case .scanning: dirtyNames.contains(key) || !index.contains(key)
            }
        // What is being published may not survive a power cut yet; its flight tells when it does.
        return isDoubtful && !isPublishing(key)
    }

    private func isPublishing(_ key: CacheKey) -> Bool {
        flights[key]?.phase == .publishing
    }

    private func known(_ key: CacheKey, isAnnounced: Bool = false) -> Lookup {
        let flight = flights[key]
        let progress = isAnnounced ? flight?.announcedProgress : flight?.progress
        if let facts = index.facts(of: key) {
            return .cached(
                facts, failure: progress?.failure ?? failures[key],
                renewal: progress.map { Refresh($0) })
        }
        return progress.map { .inFlight($0) } ?? .missing(failures[key])
    }

    /// Takes in what was seen under a name; the answer for it, or `nil` when the name changed
    /// meanwhile and has to be looked at again.
    mutating func probed(
        _ key: CacheKey, _ probe: EntryProbe, since start: ChangeEpochs.Start, now: FileTime
    ) -> (answer: Lookup?, effects: [Effect]) {
        // A file on its way out is there for a moment yet, and no entry any more.
        guard !isPublishing(key), !room.doomed.contains(key) else { return (known(key), []) }
        guard epochs.isCurrent(key, since: start) else { return (nil, []) }
        dirtyNames.remove(key)
        var effects: [Effect] = []
        switch probe {
        case .entry(let facts):
            let before = observed(key)
            if !index.update(key, facts) { appeared(key, facts, now: now) }
            handOver(key, facts)
            effects = seen(key, facts, before: before)
        case .obstructed: effects = obstructed(key)
        case .absent, .unusable: effects = vanished(key)
        }
        return (known(key), effects)
    }

    private mutating func obstructed(_ key: CacheKey) -> [Effect] {
        let isNews = index.remove(key) != nil || failures.kind(of: key) != .obstructed
        failures.record(
            Failure(.obstructed, "a directory lies under the name \(key); move it away"), of: key)
        return isNews ? changed(key) : []
    }

    /// No entry is there, and no directory in its way.
    private mutating func vanished(_ key: CacheKey) -> [Effect] {
        let isFree = failures.kind(of: key) == .obstructed && failures.forget(key)
        return index.remove(key) != nil || isFree ? changed(key) : []
    }

    /// An entry nobody downloaded is there.
    private mutating func appeared(_ key: CacheKey, _ facts: EntryFacts, now: FileTime) {
        index.insert(key, facts)
        failures.forget(key)
        // Somebody has just put it there. During a scan it was there before, and its file tells of its use.
        if trust == .whole { used(key, at: now) }
    }

    /// A stranger, or the cache itself, did something in the directory.
    mutating func directoryChanged(
        _ change: DirectoryWatch.Change, now: @autoclosure () -> FileTime
    ) -> [Effect] {
        switch change {
        case .opened(let key):
            if !uses.isOwn(key) { used(key, at: now()) }
            return []
        case .partialChanged(let key), .partialVanished(let key):
            retryEviction(.partial(key))
            if flights.update(key, { $0.notesPartial(change) }) != true { partials.doubt(key) }
            return []
        case .appeared(let key), .created(let key):
            epochs.note(key)
            dirtyNames.insert(key)
            retryEviction(.entry(key))
            flights.update(key) { $0.landing.note(change) }
            return []
        case .vanished(let key):
            epochs.note(key)
            flights.update(key) { $0.landing.note(change) }
            dirtyNames.remove(key)
            retryEviction(.entry(key))
            return vanished(key)
        case .overflowed:
            defer { changesLost() }
            return trust == .whole ? [.scan] : []
        }
    }

    /// Names lead into another directory: nothing that is known is certain.
    mutating func directoryReplaced() -> [Effect] {
        // It may be on another file system.
        (room.reach, room.pendingFree) = (.max, 0)
        isPartlyRead = true
        changesLost()
        return isScanning ? [] : [.scan]
    }

    private mutating func changesLost() {
        lostChanges = true
        losses += 1
        uses.ownOpens = [:]
        retryAllEvictions()
        isPartlyRead = isUnread
        trust = .blind
    }

    /// A scan of the whole directory begins.
    mutating func scanBegan() {
        lostChanges = false
        isScanning = true
        partials.dirtyNames.formUnion(partials.keys)
    }

    /// The scan looked at a batch of names, begun with ``ChangeEpochs/begin()``.
    mutating func scanned(
        _ batch: [CacheDirectory.Scanned], since start: ChangeEpochs.Start
    ) -> [Effect] {
        var effects: [Effect] = []
        for item in batch {
            switch item {
            case .entry(let key, let probe): effects += scanned(key, probe, start)
            case .partial(let key, let bytes):
                // It may have become an entry meanwhile.
                if !epochs.isCurrent(key, since: start) {
                    partials.dirtyNames.insert(key)
                } else if !partials.dirtyNames.contains(key) {
                    partialSeen(key, bytes)
                }
            case .unseen(.entry(let key)): dirtyNames.insert(key)
            case .unseen(.partial(let key)): partials.dirtyNames.insert(key)
            }
        }
        epochs.end()
        return effects
    }

    private mutating func scanned(
        _ key: CacheKey, _ probe: EntryProbe, _ start: ChangeEpochs.Start
    ) -> [Effect] {
        guard epochs.isCurrent(key, since: start), !isPublishing(key),
            !room.doomed.contains(key)
        else { return [] }
        dirtyNames.remove(key)
        switch probe {
        case .entry(let facts):
            let before = observed(key)
            if !index.update(key, facts) { index.insertOldest(key, facts) }
            handOver(key, facts)
            return seen(key, facts, before: before)
        case .obstructed: return obstructed(key)
        case .absent, .unusable: return vanished(key)
        }
    }

    /// Somebody looked at the name of a partial, begun with ``ChangeEpochs/begin()``. What happened to it
    /// since then is known better, or is looked at again.
    mutating func partialSeen(
        _ key: CacheKey, _ bytes: Int64?, since start: ChangeEpochs.Start
    ) {
        if partials.epochs.isCurrent(key, since: start) { partialSeen(key, bytes) }
        partials.epochs.end()
    }

    /// What is under the name of a partial; `nil`: nothing.
    mutating func partialSeen(_ key: CacheKey, _ bytes: Int64?) {
        partials.dirtyNames.remove(key)
        // What a download is writing is in its own books.
        if flights[key]?.hasRoom != true { partials[key] = bytes }
    }

    /// The scan is through. What it found is put in the order of use, called for one stretch after
    /// the other from the most recently used to the least; entries used since keep their place.
    mutating func scanSorted(_ stretch: ArraySlice<(key: CacheKey, lastUsedAt: FileTime)>) {
        for (key, time) in stretch { index.makeOldest(key, usedAt: time) }
    }

    /// The scan is through and sorted: from now on the index is the whole truth, unless changes can't be
    /// watched, or were lost while it ran; then it has to be repeated, and the answer is `false`.
    mutating func scanFinished(isWatched: Bool) -> Bool {
        trust = isWatched && !lostChanges ? .whole : .blind
        isScanning = trust != .whole && isWatched
        isPartlyRead = isPartlyRead && isScanning
        return !isScanning
    }
}
