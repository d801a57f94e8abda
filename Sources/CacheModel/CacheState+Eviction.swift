package import CacheKey

/// Eviction: which files are unlinked, and how far an eviction goes.
extension CacheState {
    // MARK: Victims

    /// Takes an entry off the index, and its bytes into the ledger until its file is unlinked.
    package mutating func unlinkPending(_ key: CacheKey) -> Victim? {
        guard let facts = catalog.remove(key) else { return nil }
        return space.unlinkPending(key, facts.allocated, facts: facts)
    }

    /// The least recently used entry that is neither pinned nor in flight nor known to be unevictable.
    private mutating func nextVictim(_ search: inout VictimSearch) -> Victim? {
        guard search.victims.count < search.limit else {
            search.isCutShort = true
            return nil
        }
        let isSpared = { [downloads, space] (key: CacheKey) in
            downloads.contains(key) || space.unevictable.contains(.entry(key))
        }
        guard let key = catalog.nextVictim(steps: &search.steps, unless: isSpared),
            var victim = unlinkPending(key)
        else {
            search.isCutShort = search.steps == 0
            return nil
        }
        victim.isEvicted = true
        return victim
    }

    /// The next victim for a download that misses so many bytes: an entry, and if none is left, a partial.
    package mutating func nextVictim(
        _ search: inout VictimSearch, for flight: Flight, missing: Int64
    ) -> Victim? {
        if let victim = nextVictim(&search) { return victim }
        return search.isCutShort ? nil : restingPartial(flight, missing)
    }

    /// A partial that another download is about to continue is the last choice, and only if that is enough:
    /// it is unlinked before the other can continue, which then starts over.
    private mutating func restingPartial(_ flight: Flight, _ missing: Int64) -> Victim? {
        let others = space.partials.keys.lazy.filter { [downloads, space] in
            downloads[$0]?.id != flight.id && !space.unevictable.contains(.partial($0))
        }
        var next = others.first { downloads[$0].map { $0.phase == .queued } ?? true }
        if next == nil, missing > 0,
            others.reduce(0, { $0 + (space.partials[$1] ?? 0) }) >= missing
        {
            next = others.first
        }
        return next.flatMap { space.unlinkPending(partialOf: $0) }
    }

    /// The disk is full, whatever the ledger says: the victims for a download that misses so many bytes, at
    /// least one; none if all together would not be enough.
    package mutating func diskFilled(
        _ key: CacheKey, _ bytes: Int64, _ effects: inout Effects
    ) -> VictimSearch {
        var search = VictimSearch()
        guard catalog.isRead, let flight = downloads[key], bytes <= bytesUsed - immovable.bytes
        else { return search }
        var freed: Int64 = 0
        while search.victims.isEmpty || freed < bytes,
            let victim = nextVictim(&search, for: flight, missing: bytes - freed)
        {
            search.victims.append(victim)
            freed += victim.bytes
            if case .entry(let key) = victim.name { changed(key, &effects) }
        }
        return search
    }

    // MARK: After the unlink

    /// The files of victims are gone.
    package mutating func unlinked(_ victims: some Sequence<Victim>, _ effects: inout Effects) {
        for victim in victims where victim.isEvicted {
            counters.evicted = counters.evicted + Removal(entries: 1, bytes: victim.bytes)
        }
        space.unlinkEnded(victims)
        spaceReleased(&effects)
    }

    /// Victims were not unlinked: they are what they were, as old as before, and are probed before the cache
    /// says anything of them.
    package mutating func unlinkAborted(_ victims: some Sequence<Victim>, _ effects: inout Effects)
    {
        for victim in victims {
            switch victim.name {
            case .entry(let key):
                catalog.needsProbeAgain(key)
                guard let facts = victim.facts, !downloads.contains(key), !catalog.contains(key)
                else { continue }
                catalog.restore(key, facts)
                changed(key, &effects)
            case .partial(let key): space.partials.becameDirty(key)
            }
        }
        space.unlinkEnded(victims)
        spaceReleased(&effects)
    }

    /// Victims could not be unlinked.
    ///
    /// - Parameter othersCould: whether others could be. Then no eviction tries these again until they
    ///   change, somebody asks for an eviction, or an hour has passed.
    package mutating func unlinkFailed(
        _ victims: [Victim], othersCould: Bool, _ effects: inout Effects
    ) {
        for victim in victims { space.unlinkFailed(victim, othersCould: othersCould) }
        unlinkAborted(victims, &effects)
    }

    /// A file may be unlinkable now.
    package mutating func retryEviction(of name: DirectoryName) {
        if space.retryEviction(of: name), case .entry(let key) = name { catalog.maybeUnspared(key) }
    }

    /// All files may be unlinkable now.
    package mutating func retryAllEvictions() {
        if space.retryAllEvictions() { catalog.restartEviction() }
    }

    /// What no eviction takes: pinned entries, and files that cannot be unlinked.
    package var immovable: Removal {
        space.unevictable.reduce(catalog.index.pinned) { sum, name in
            switch name {
            case .entry(let key):
                guard let facts = catalog.facts(of: key), !facts.isPinned else { return sum }
                return sum + Removal(entries: 1, bytes: facts.allocated)
            case .partial(let key): return sum + Removal(bytes: space.partials[key] ?? 0)
            }
        }
    }

    // MARK: Evicting

    /// Has something begin once the directory is read, if it is not yet; whether that is so.
    package mutating func postpones(_ begin: @escaping @Sendable () -> Void) -> Bool {
        guard !catalog.isRead, !isDraining else { return false }
        space.postponed.append(begin)
        return true
    }

    /// The next victims of an eviction, and whether they are the last: the goal is reached with them, nothing
    /// more can be evicted, or the cache is about to end. An image that becomes an entry meanwhile is newer
    /// than all of them. An eviction is a series of slices, so that nobody waits for a long one.
    package mutating func evictionSlice(
        _ goal: EvictionGoal, isOwn: Bool, limit: Int = VictimSearch.slice,
        _ effects: inout Effects
    ) -> (victims: [Victim], isLast: Bool) {
        var search = VictimSearch(limit: limit)
        while !isDraining, isOver(goal, isOwn: isOwn), let victim = nextVictim(&search) {
            search.victims.append(victim)
            if case .entry(let key) = victim.name { changed(key, &effects) }
        }
        let isLast = search.victims.count < limit && !search.isCutShort
        if isLast, isOwn {
            space.isEvicting = false
            // The limits may have shrunk meanwhile.
            if !isOver(goal, isOwn: true) { limitsChecked(&effects) }
        }
        return (search.victims, isLast)
    }

    /// Whether more is held than the goal of an eviction.
    ///
    /// - Parameter isOwn: begun by the cache itself, for its limits: then reservations and entries on their
    ///   way count, so that their arrival is no reason to evict more. A person means what is there.
    package func isOver(_ goal: EvictionGoal, isOwn: Bool) -> Bool {
        guard isOwn else { return bytesUsed > goal.bytes }
        return bytesPromised > goal.bytes || catalog.index.count > goal.entries
            || entriesToCome(ifOver: goal.entries) > goal.entries
    }

    /// The limits may be exceeded: they were changed, an entry came, or others wrote to the disk.
    package mutating func limitsChecked(_ effects: inout Effects) {
        guard catalog.isRead,
            bytesPromised > space.ceiling || catalog.index.count > space.budget.maximumEntries
        else { return }
        evictToWatermark(&effects)
    }

    /// Starts an eviction that leaves a tenth of the limits free, unless one is under way.
    package mutating func evictToWatermark(_ effects: inout Effects) {
        var goal = EvictionGoal(bytes: space.watermark)
        let most = space.budget.maximumEntries
        if entriesToCome(ifOver: most - 1) >= most { goal.entries = Budget.watermark(most) }
        guard !space.isEvicting, !isDraining, isOver(goal, isOwn: true) else { return }
        space.isEvicting = true
        effects.work.append(.evict(goal))
    }

    private var bytesPromised: Int64 { bytesHeld - space.pendingUnlink }
}
