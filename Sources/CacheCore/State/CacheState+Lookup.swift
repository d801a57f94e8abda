internal import CacheKey

/// Questions, and what the directory shows.
extension CacheState {
    /// What is known of a key; `nil` when its name has to be looked at first. Touches nothing.
    func lookup(_ key: CacheKey) -> Lookup? {
        mustExamine(key) ? nil : known(key)
    }

    private func mustExamine(_ key: CacheKey) -> Bool {
        let isDoubtful =
            switch trust {
            case .blind: true
            case .whole: !unverified.isEmpty && unverified.contains(key)
            case .scanning: unverified.contains(key) || !index.contains(key)
            }
        // What is being published may not survive a power cut yet; its flight tells when it does.
        return isDoubtful && !isPublishing(key)
    }

    private func isPublishing(_ key: CacheKey) -> Bool {
        flights[key]?.phase == .publishing
    }

    private func known(_ key: CacheKey) -> Lookup {
        if let facts = index.facts(of: key) { return .cached(facts) }
        if let flight = flights[key] { return .inFlight(flight.progress) }
        return .missing(failures[key])
    }

    /// Takes in what was seen under a name; the answer for it, or `nil` when the name changed
    /// meanwhile and has to be looked at again.
    mutating func examined(_ key: CacheKey, _ examination: Examination) -> Lookup? {
        guard !isPublishing(key) else { return known(key) }
        guard examinations.isCurrent(key) else { return nil }
        unverified.remove(key)
        switch examination {
        case .entry(let facts):
            if !index.update(key, facts) { index.insert(key, facts) }
        case .obstructed:
            index.remove(key)
            failures.record(
                Failure(.obstructed, "a directory lies under the name \(key); move it away"),
                of: key)
        case .absent, .unusable:
            index.remove(key)
        }
        return known(key)
    }

    /// A stranger, or the cache itself, changed something in the directory.
    mutating func directoryChanged(_ change: DirectoryWatch.Change) -> [Effect] {
        switch change {
        case .appeared(let key):
            examinations.note(key)
            unverified.insert(key)
            return []
        case .vanished(let key):
            examinations.note(key)
            unverified.remove(key)
            return index.remove(key) == nil ? [] : changed(key)
        case .overflowed:
            lostChanges = true
            defer { trust = .blind }
            return trust == .whole ? [.scan] : []
        }
    }

    /// A scan of the whole directory begins.
    mutating func scanBegan() {
        lostChanges = false
    }

    /// The scan looked at a batch of names, begun with ``Examinations/begin()``.
    mutating func scanned(_ batch: [CacheDirectory.Scanned]) {
        for item in batch where examinations.isCurrent(item.key) && !isPublishing(item.key) {
            unverified.remove(item.key)
            if case .entry(let facts) = item.examination {
                if !index.contains(item.key) { index.insertOldest(item.key, facts) }
            } else {
                index.remove(item.key)
            }
        }
        examinations.end()
    }

    /// The scan is through. What it found is put in the order of use, called for one stretch after
    /// the other from the most recently used to the least; entries used since keep their place.
    mutating func scanSorted(_ stretch: ArraySlice<(key: CacheKey, lastUsedAt: UnixTime)>) {
        for (key, lastUsedAt) in stretch where index.facts(of: key)?.lastUsedAt == lastUsedAt {
            index.makeOldest(key)
        }
    }

    /// The scan is through and sorted: from now on the index is the whole truth, unless changes can't be
    /// watched, or were lost while it ran; then it has to be repeated, and the answer is `false`.
    mutating func scanFinished(isWatched: Bool) -> Bool {
        trust = isWatched && !lostChanges ? .whole : .blind
        return trust == .whole || !isWatched
    }

    /// Notes that what is said of a key has changed.
    mutating func changed(_ key: CacheKey) -> [Effect] {
        changes.note(key) ? [.announceChanges] : []
    }
}
