package import CacheDisk
package import CacheKey
package import CacheValues

/// Eviction: chooses the files to unlink, and decides when an eviction ends.
extension CacheState {
    // MARK: Victims

    /// Removes an entry from the index. The ledger counts its bytes until its file is unlinked.
    package mutating func unlinkPending(_ key: CacheKey) -> Victim? {
        let bytes = catalog.bytesFreed(byRemoving: key)
        guard let facts = catalog.remove(key) else { return nil }
        return space.unlinkPending(key, bytes, facts: facts)
    }

    /// The next entry in the order of eviction that is not pinned, has no download, and is not known to
    /// be unevictable.
    private mutating func nextVictim(_ search: inout VictimSearch) -> Victim? {
        guard search.victims.count < search.limit else { return nil }
        let next = catalog.index.nextVictim(
            steps: &search.steps, fetchedBefore: search.fetchedBefore,
            unless: { [downloads, space] in
                downloads.contains($0) || space.unevictable.contains(.entry($0))
            })
        guard let next, var victim = unlinkPending(next) else { return nil }
        victim.isEvicted = true
        return victim
    }

    /// The next victim for a download that lacks `missing` bytes: an entry or, if no entry is left, a
    /// partial.
    package mutating func nextVictim(
        _ search: inout VictimSearch, for flight: Flight, missing: Int64
    ) -> Victim? {
        if let victim = nextVictim(&search) { return victim }
        return search.victims.count < search.limit ? restingPartial(flight, missing) : nil
    }

    /// Chooses a partial as a victim.
    ///
    /// A partial that another download is about to continue is the last choice, and is chosen
    /// only if unlinking such partials frees enough. It is unlinked before its download can
    /// continue, so that download starts over.
    private mutating func restingPartial(_ flight: Flight, _ missing: Int64) -> Victim? {
        let others = space.partials.keys.lazy.filter { [downloads, space] in
            downloads[$0]?.id != flight.id && !space.unevictable.contains(.partial($0))
        }
        var next = others.first { downloads[$0].map { $0.isQueued || $0.isSpreading } ?? true }
        if next == nil, missing > 0,
            others.reduce(0, { $0 + (space.partials[$1] ?? 0) }) >= missing
        {
            next = others.first
        }
        return next.flatMap { space.unlinkPending(partialOf: $0) }
    }

    /// The disk is full, although the ledger counts free space. Chooses victims for a download that
    /// lacks `bytes` bytes.
    ///
    /// - Returns: at least one victim, or none if all possible victims together would not free enough.
    package mutating func diskFilled(
        _ key: CacheKey, _ bytes: Int64, _ effects: inout Effects
    ) -> [Victim] {
        guard catalog.isRead, let flight = downloads[key], bytes <= bytesUsed - immovable.bytes
        else { return [] }
        var search = VictimSearch()
        var freed: Int64 = 0
        // One of several names of a file frees nothing.
        while freed < max(bytes, 1),
            let victim = nextVictim(&search, for: flight, missing: bytes - freed)
        {
            search.victims.append(victim)
            freed += victim.bytes
            if case .entry(let key) = victim.name { changed(key, &effects) }
        }
        return search.victims
    }

    // MARK: After the unlink

    /// The files of these victims have been unlinked.
    package mutating func unlinked(_ victims: some Sequence<Victim>, _ effects: inout Effects) {
        for victim in victims {
            if victim.isEvicted {
                counters.evicted = counters.evicted + Removal(entries: 1, bytes: victim.bytes)
            }
            // The attributes of the name went with it, perhaps with a block of the file.
            if case .entry(let key) = victim.name, let facts = victim.facts,
                let sibling = catalog.index.sibling(of: facts, except: key)
            {
                catalog.needsProbeAgain(sibling)
            }
        }
        unlinkEnded(victims, &effects)
    }

    /// These victims were not unlinked. Their entries return to the index with their old time of
    /// use. Each name is probed before the cache answers for it.
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
        unlinkEnded(victims, &effects)
    }

    /// The unlinks of these victims failed.
    ///
    /// - Parameter othersCould: whether other files could be unlinked. If so, evictions skip these
    ///   victims until they change, a user requests an eviction, or an hour has passed.
    package mutating func unlinkFailed(
        _ victims: [Victim], othersCould: Bool, _ effects: inout Effects
    ) {
        for victim in victims { space.unlinkFailed(victim, othersCould: othersCould) }
        unlinkAborted(victims, &effects)
    }

    private mutating func unlinkEnded(
        _ victims: some Sequence<Victim>, _ effects: inout Effects
    ) {
        space.unlinkEnded(victims)
        // While a download holds a reservation, the freed bytes may already be granted to it, and
        // `spaceReleased` runs when it ends. Without a holder nothing else would wake a waiting download.
        if space.holders.isEmpty { spaceReleased(&effects) }
    }

    /// The files that no eviction can remove: those that are pinned, and those that cannot be unlinked.
    package var immovable: Removal {
        space.unevictable.reduce(catalog.index.pinned) { sum, name in
            switch name {
            case .entry(let key):
                guard let facts = catalog.facts(of: key), !facts.isPinned else { return sum }
                // If its file has other names, these hold the bytes.
                let bytes = catalog.bytesFreed(byRemoving: key)
                return sum + Removal(entries: 1, bytes: bytes)
            case .partial(let key): return sum + Removal(bytes: space.partials[key] ?? 0)
            }
        }
    }

    // MARK: Evicting

    /// Postpones work until the directory has been read.
    ///
    /// - Returns: `false` if the directory has been read or the cache is shutting down, so the
    ///   caller does the work itself.
    package mutating func postpones(_ begin: @escaping @Sendable () -> Void) -> Bool {
        guard !catalog.isRead, !isDraining else { return false }
        space.postponed.append(begin)
        return true
    }

    /// Chooses the next victims of an eviction.
    ///
    /// An eviction runs in slices, so that a long one does not hold up other work. An image that
    /// becomes an entry between two slices goes after all those that were not used either.
    ///
    /// - Returns: the victims, and whether they are the last. They are the last if they reach the
    ///   goal, if nothing more may be evicted, or if the cache is shutting down.
    package mutating func evictionSlice(
        _ goal: EvictionGoal, isOwn: Bool, limit: Int = VictimSearch.slice,
        _ effects: inout Effects
    ) -> (victims: [Victim], isLast: Bool) {
        var search = VictimSearch(limit: limit, fetchedBefore: goal.fetchedBefore)
        while !isDraining, isOver(goal, isOwn: isOwn), let victim = nextVictim(&search) {
            search.victims.append(victim)
            if case .entry(let key) = victim.name { changed(key, &effects) }
        }
        let isLast = search.victims.isEmpty || search.victims.count < limit && search.steps > 0
        if isLast, isOwn {
            space.isEvicting = false
            // The limits may have shrunk during the eviction.
            if !isOver(goal, isOwn: true) { limitsChecked(&effects) }
        }
        return (search.victims, isLast)
    }

    /// Whether the cache holds more than the goal of an eviction allows.
    ///
    /// - Parameter isOwn: whether the cache itself began the eviction to keep its limits. If so,
    ///   reservations and images in download count, so that their arrival does not cause another
    ///   eviction. An eviction that a user requests counts only existing files.
    package func isOver(_ goal: EvictionGoal, isOwn: Bool) -> Bool {
        guard (isOwn ? bytesPromised : bytesUsed) <= goal.bytes else { return true }
        return isOwn
            && (catalog.index.count > goal.entries
                || entriesToCome(ifOver: goal.entries) > goal.entries)
    }

    /// The limits may be exceeded because they changed, an entry was added, or other programs wrote
    /// to the disk.
    package mutating func limitsChecked(_ effects: inout Effects) {
        guard catalog.isRead,
            bytesPromised > space.ceiling || catalog.index.count > space.budget.maximumEntries
        else { return }
        evictToWatermark(&effects)
    }

    /// Starts an eviction that leaves a tenth of the limits free, unless one is already running.
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
