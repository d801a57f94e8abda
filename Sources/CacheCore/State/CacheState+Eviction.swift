internal import CacheKey

/// A file that has to go. It is off the index already; its bytes stay on the books until
/// ``CacheState/unlinked(_:)``, because the disk holds them until then.
struct Victim: Hashable, Sendable {
    let name: DirectoryName
    /// Bytes the disk holds for it.
    let bytes: Int64
    /// An entry the cache chose, as against one somebody asked to remove.
    var isEvicted = false
    /// What was known of an entry, should its file stay.
    var facts: EntryFacts?
}

/// Where an eviction ends: at or below both.
struct EvictionGoal: Hashable, Sendable {
    /// Bytes held or set aside.
    var bytes: Int64
    /// Entries held or on their way.
    var entries = Int.max
}

/// Who has to go, as far as one hold of the lock suffices to find them, and no more than are removed before
/// others have their turn.
struct VictimSearch {
    /// Files removed in one go.
    static let slice = 128

    var victims: [Victim] = []
    var limit = Self.slice
    /// How many entries it may go past yet, those that are pinned or spared.
    var steps = 1024
    /// It ended for want of steps, or at its limit; the next one goes on from there.
    var isCutShort = false
}

/// Who has to go, and how far an eviction goes.
extension CacheState {
    // MARK: Victims

    /// The next to go: the least recently used entry that is neither pinned nor in flight, and of which
    /// nobody knows that it can't be removed.
    mutating func nextVictim(_ search: inout VictimSearch) -> Victim? {
        guard search.victims.count < search.limit else {
            search.isCutShort = true
            return nil
        }
        let (flights, unevictable) = (flights, room.unevictable)
        let isSpared = { flights[$0] != nil || unevictable.contains(.entry($0)) }
        guard let key = index.oldestUnpinned(steps: &search.steps, unless: isSpared),
            var victim = condemn(key)
        else {
            search.isCutShort = search.steps == 0
            return nil
        }
        victim.isEvicted = true
        return victim
    }

    /// The next to go for a download that needs so many bytes more.
    mutating func nextVictim(
        _ search: inout VictimSearch, for flight: Flight, _ missing: Int64
    ) -> Victim? {
        if let victim = nextVictim(&search) { return victim }
        return search.isCutShort ? nil : restingPartial(flight, missing)
    }

    /// Where nothing else is left, what a download left behind goes. One that another is about to
    /// continue goes last, and only if that suffices for `missing` bytes: then it is gone before the
    /// other can go on, which begins anew.
    private mutating func restingPartial(_ flight: Flight, _ missing: Int64) -> Victim? {
        let others = partials.keys.lazy.filter { [flights, room] in
            flights[$0]?.id != flight.id && !room.unevictable.contains(.partial($0))
        }
        var next = others.first { flights[$0].map { $0.phase == .queued } ?? true }
        if next == nil, missing > 0, others.reduce(0, { $0 + (partials[$1] ?? 0) }) >= missing {
            next = others.first
        }
        return next.flatMap { condemn(partialOf: $0) }
    }

    /// The disk is full, whatever the books say. Who goes for a download: files of so many bytes, at least
    /// one; nobody where all together would not do.
    mutating func diskFilled(_ key: CacheKey, _ bytes: Int64) -> (VictimSearch, [Effect]) {
        var search = VictimSearch()
        guard !isUnread, let flight = flights[key],
            bytes <= index.allocated + partials.total - immovable.bytes
        else { return (search, []) }
        var effects: [Effect] = []
        var freed: Int64 = 0
        while search.victims.isEmpty || freed < bytes,
            let victim = nextVictim(&search, for: flight, bytes - freed)
        {
            search.victims.append(victim)
            freed += victim.bytes
            if case .entry(let key) = victim.name { effects += changed(key) }
        }
        return (search, effects)
    }

    mutating func condemn(partialOf key: CacheKey) -> Victim? {
        guard let bytes = partials[key] else { return nil }
        partials[key] = nil
        room.condemned += bytes
        return Victim(name: .partial(key), bytes: bytes)
    }

    /// Takes an entry off the index; its file is the caller's to remove.
    mutating func condemn(_ key: CacheKey) -> Victim? {
        guard let facts = index.remove(key) else { return nil }
        epochs.note(key)
        var victim = condemn(unindexed: key, facts.allocated)
        victim.facts = facts
        return victim
    }

    /// The same for a file that never got onto it.
    mutating func condemn(unindexed key: CacheKey, _ bytes: Int64) -> Victim {
        room.condemned += bytes
        room.doomed.insert(key)
        return Victim(name: .entry(key), bytes: bytes)
    }

    /// Victims are gone.
    mutating func unlinked(_ victims: some Sequence<Victim>) -> [Effect] {
        for victim in victims where victim.isEvicted {
            counters.evicted = counters.evicted + Removal(entries: 1, bytes: victim.bytes)
        }
        return released(victims)
    }

    /// Victims were not removed: they are what they were, as old as before, and looked at before anything is
    /// said of them again.
    mutating func stayed(_ victims: some Sequence<Victim>) -> [Effect] {
        var effects: [Effect] = []
        for victim in victims {
            switch victim.name {
            case .entry(let key):
                dirtyNames.insert(key)
                guard let facts = victim.facts, flights[key] == nil, !index.contains(key) else {
                    continue
                }
                index.restore(key, facts)
                effects += changed(key)
            case .partial(let key): partials.doubt(key)
            }
        }
        return effects + released(victims)
    }

    /// Victims could not be removed, as was tried. Where others can be, no eviction tries these again until
    /// they change, somebody asks for one, or an hour has passed.
    mutating func stuck(_ victims: [Victim], othersMayGo: Bool) -> [Effect] {
        for victim in victims {
            if case .entry(let key) = victim.name { unremovable.insert(key) }
            if othersMayGo { room.unevictable.insert(victim.name) }
        }
        return stayed(victims)
    }

    /// One that may have been among those changed, or was asked for.
    mutating func retryEviction(_ name: DirectoryName) {
        if case .entry(let key) = name { unremovable.remove(key) }
        guard room.unevictable.remove(name) != nil, case .entry(let key) = name else { return }
        index.maybeUnspared(key)
    }

    /// All of those are tried again.
    mutating func retryAllEvictions() {
        unremovable = []
        guard !room.unevictable.isEmpty else { return }
        room.unevictable = []
        index.searchAnew()
    }

    /// What no eviction takes: pinned entries, and what can't be removed.
    var immovable: Removal {
        room.unevictable.reduce(index.pinned) { sum, name in
            switch name {
            case .entry(let key):
                guard let facts = index.facts(of: key), !facts.isPinned else { return sum }
                return sum + Removal(entries: 1, bytes: facts.allocated)
            case .partial(let key): return sum + Removal(bytes: partials[key] ?? 0)
            }
        }
    }

    /// Takes victims off the books: no file of theirs is on its way out any more.
    private mutating func released(_ victims: some Sequence<Victim>) -> [Effect] {
        for victim in victims {
            room.condemned -= victim.bytes
            if case .entry(let key) = victim.name { room.doomed.remove(key) }
        }
        return resumeNext()
    }

    // MARK: Evicting

    /// Has something begin once the directory is read, if it is not yet; whether that is so.
    mutating func postpones(_ begin: @escaping @Sendable () -> Void) -> Bool {
        guard isUnread, !isDraining else { return false }
        room.postponed.append(begin)
        return true
    }

    /// The next few victims on the way down, and whether these are the last: the goal is reached with them,
    /// nothing more may go, or the cache is about to end. Then it is over: what becomes an entry while they go
    /// is newer than all of them. Asked again and again, so that nobody waits for a long eviction.
    mutating func evictionSlice(
        _ eviction: Eviction, limit: Int = VictimSearch.slice
    ) -> (victims: [Victim], isLast: Bool, effects: [Effect]) {
        var search = VictimSearch(limit: limit)
        var effects: [Effect] = []
        while !isDraining, isOver(eviction), let victim = nextVictim(&search) {
            search.victims.append(victim)
            if case .entry(let key) = victim.name { effects += changed(key) }
        }
        let isLast = search.victims.count < limit && !search.isCutShort
        if isLast, eviction.isOwn {
            room.isEvicting = false
            // The limits may have shrunk meanwhile.
            if !isOver(eviction) { effects += limitsChecked() }
        }
        return (search.victims, isLast, effects)
    }

    /// What is on its way counts, bytes and entry: its arrival is no reason for more to go.
    private func isOver(_ goal: EvictionGoal) -> Bool {
        held - room.condemned > goal.bytes || index.count > goal.entries
            || entriesToCome(ifOver: goal.entries) > goal.entries
    }

    /// Whoever asks for an eviction means what is there; the cache itself, also what is promised.
    func isOver(_ eviction: Eviction) -> Bool {
        eviction.isOwn ? isOver(eviction.goal) : bytesUsed > eviction.goal.bytes
    }

    /// There are new limits. What was too large for the old ones may not be for these.
    mutating func limitsSet(_ new: Budget) -> [Effect] {
        let mayBeLarger = new.maximumImageSize > budget.maximumImageSize
        budget = new
        let forgotten = mayBeLarger ? failures.forgetAll(.tooLarge) : []
        return forgotten.flatMap { changed($0) } + limitsChecked() + resumeNext()
    }

    /// The limits may be passed: they were changed, an entry came, or strangers wrote to the disk.
    mutating func limitsChecked() -> [Effect] {
        guard !isUnread,
            held - room.condemned > ceiling || index.count > budget.maximumEntries
        else { return [] }
        return evictToWatermark()
    }

    mutating func evictToWatermark() -> [Effect] {
        // What an eviction does not take is no reason to take more of the rest.
        let rests = min(partials.total, ceiling)
        var goal = EvictionGoal(bytes: rests + Budget.watermark(ceiling - rests))
        if entriesToCome(ifOver: budget.maximumEntries - 1) >= budget.maximumEntries {
            goal.entries = Budget.watermark(budget.maximumEntries)
        }
        guard !room.isEvicting, !isDraining, isOver(goal) else { return [] }
        room.isEvicting = true
        return [.evict(goal)]
    }
}
