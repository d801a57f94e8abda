package import CacheKey
package import CacheValues

/// Eviction: chooses the files to unlink, and decides when an eviction ends.
extension DiskState {
    // MARK: Victims

    /// The file of a key has to be unlinked, whether the index has it or not. The ledger counts its bytes until then.
    ///
    /// - Parameter facts: the facts of a file that the index does not have.
    package mutating func unlinkPending(_ key: CacheKey, facts: EntryFacts?) -> Victim {
        if let victim = unlinkPending(key) { return victim }
        let isLast = facts.map { index.sibling(of: $0, except: key) == nil } ?? false
        return space.unlinkPending(key, isLast ? facts?.allocated ?? 0 : 0)
    }

    /// Removes an entry from the index. The ledger counts its bytes until its file is unlinked.
    package mutating func unlinkPending(_ key: CacheKey) -> Victim? {
        let bytes = index.bytesFreed(byRemoving: key)
        guard let facts = remove(key) else { return nil }
        return space.unlinkPending(key, bytes, facts: facts)
    }

    /// Removes an entry from the index whose file is about to be replaced, so that nothing unlinks it.
    ///
    /// - Returns: the bytes of the file. `nil` if there is no entry.
    package mutating func forget(_ key: CacheKey) -> Int64? {
        let bytes = index.bytesFreed(byRemoving: key)
        return remove(key).map { _ in bytes }
    }

    /// The next entry in the order of eviction that is not pinned, has no download, and is not known to
    /// be unevictable. One that a caller was given and has not been told of is the next only if there is no other.
    private mutating func nextEntry(
        _ search: inout VictimSearch, _ use: (CacheKey) -> FileUse
    ) -> Victim? {
        guard search.victims.count < search.limit else { return nil }
        let next = nextKey(&search, use) ?? (search.takesGiven() ? nextKey(&search, use) : nil)
        guard let next else { return nil }
        index.willEvict(next)
        guard var victim = unlinkPending(next) else { return nil }
        victim.isEvicted = true
        return victim
    }

    private func nextKey(
        _ search: inout VictimSearch, _ use: (CacheKey) -> FileUse
    ) -> CacheKey? {
        var given = 0
        defer { search.given += given }
        return index.nextVictim(
            &search.position, fetchedBefore: search.fetchedBefore,
            unless: { [space, sparesGiven = search.sparesGiven] in
                let use = use($0)
                if use == .given, sparesGiven {
                    given += 1
                    return true
                }
                return use.isDownload || space.unevictable.contains(.entry($0))
            })
    }

    /// The next victim for a download that lacks `missing` bytes: an entry or, if no entry is left, a
    /// partial.
    mutating func nextVictim(
        _ search: inout VictimSearch, for key: CacheKey, missing: Int64,
        _ use: (CacheKey) -> FileUse
    ) -> Victim? {
        if let victim = nextEntry(&search, use) { return victim }
        return search.victims.count < search.limit ? restingPartial(key, missing, use) : nil
    }

    /// Chooses a partial as a victim.
    ///
    /// A partial that another download is about to continue is the last choice, and is chosen
    /// only if unlinking such partials frees enough. It is unlinked before its download can
    /// continue, so that download starts over.
    private mutating func restingPartial(
        _ key: CacheKey, _ missing: Int64, _ use: (CacheKey) -> FileUse
    ) -> Victim? {
        let others = space.partials.keys.lazy.filter { [space] in
            $0 != key && !space.unevictable.contains(.partial($0))
        }
        var next = others.first { use($0) != .running }
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
        _ key: CacheKey, _ bytes: Int64, _ use: (CacheKey) -> FileUse
    ) -> [Victim] {
        // One of several names of a file frees nothing.
        victims(for: max(bytes, 1), 0, key, use).search.victims
    }

    // MARK: After the unlink

    /// The files of these victims have been unlinked.
    package mutating func unlinked(_ victims: some Sequence<Victim>) {
        for victim in victims {
            // The attributes of the name went with it, perhaps with a block of the file.
            if case .entry(let key) = victim.name, let facts = victim.facts,
                let sibling = index.sibling(of: facts, except: key)
            {
                needsProbeAgain(sibling)
            }
        }
        space.unlinkEnded(victims)
    }

    /// These victims were not unlinked. Their entries return to the index with their old time of
    /// use. Each name is probed before the cache answers for it.
    ///
    /// - Returns: the entries that are back.
    package mutating func unlinkAborted(
        _ victims: some Sequence<Victim>, _ use: (CacheKey) -> FileUse
    ) -> [CacheKey] {
        var restored: [CacheKey] = []
        for victim in victims {
            switch victim.name {
            case .entry(let key):
                needsProbeAgain(key)
                guard let facts = victim.facts, !use(key).isDownload, !contains(key) else {
                    continue
                }
                index.restore(key, facts)
                restored.append(key)
            case .partial(let key): space.partials.becameDirty(key)
            }
        }
        space.unlinkEnded(victims)
        return restored
    }

    /// The files that no eviction can remove: those that are pinned, and those that cannot be unlinked.
    var immovable: Removal {
        space.unevictable.reduce(index.pinned) { sum, name in
            switch name {
            case .entry(let key):
                guard let facts = facts(of: key), !facts.isPinned else { return sum }
                // If its file has other names, these hold the bytes.
                return sum + Removal(entries: 1, bytes: index.bytesFreed(byRemoving: key))
            case .partial(let key): return sum + Removal(bytes: space.partials[key] ?? 0)
            }
        }
    }

    // MARK: Evicting

    /// Postpones work until the directory has been read.
    ///
    /// - Returns: `false` if the directory has been read, so the caller does the work itself.
    package mutating func postpones(_ begin: @escaping @Sendable () -> Void) -> Bool {
        if !isRead { space.postponed.append(begin) }
        return !isRead
    }

    /// Chooses the next victims of an eviction.
    ///
    /// An eviction runs in slices, so that a long one does not hold up other work. An image that
    /// becomes an entry between two slices goes after all those that were not used either.
    ///
    /// - Returns: the victims, and whether they are the last. They are the last if they reach the
    ///   goal, or if nothing more may be evicted.
    package mutating func evictionSlice(
        _ goal: EvictionGoal, isOwn: Bool, limit: Int = VictimSearch.slice,
        _ use: (CacheKey) -> FileUse
    ) -> (victims: [Victim], isLast: Bool) {
        var search = VictimSearch(limit: limit, fetchedBefore: goal.fetchedBefore)
        while isOver(goal, isOwn: isOwn), let victim = nextEntry(&search, use) {
            search.victims.append(victim)
        }
        let isLast =
            search.victims.isEmpty || search.victims.count < limit && !search.position.isSpent
        if isLast, isOwn { space.isEvicting = false }
        return (search.victims, isLast)
    }

    /// Those of the entries that were not used since, are not pinned, and that nobody uses.
    package mutating func victims(
        of entries: some Sequence<ListedEntry>, _ use: (CacheKey) -> FileUse
    ) -> [Victim] {
        var victims: [Victim] = []
        for entry in entries where use(entry.key) == .none {
            guard let facts = facts(of: entry.key), !facts.isPinned,
                facts.lastUsedAt == entry.facts.lastUsedAt, var victim = unlinkPending(entry.key)
            else { continue }
            victim.isEvicted = true
            victims.append(victim)
        }
        return victims
    }

    /// Whether the cache holds more than the goal of an eviction allows.
    ///
    /// - Parameter isOwn: whether the cache itself began the eviction to keep its limits. If so,
    ///   reservations and images in download count, so that their arrival does not cause another
    ///   eviction. An eviction that a user requests counts only existing files.
    package func isOver(_ goal: EvictionGoal, isOwn: Bool) -> Bool {
        guard (isOwn ? bytesPromised : bytesUsed) <= goal.bytes else { return true }
        return isOwn
            && (index.count > goal.entries || entriesToCome(ifOver: goal.entries) > goal.entries)
    }

    /// Whether more is held than the limits allow.
    package var isOverLimits: Bool {
        isRead
            && (bytesPromised > space.ceiling || index.count > space.budget.maximumEntries)
    }

    /// Begins an eviction that leaves a tenth of the limits free.
    ///
    /// - Returns: its goal. `nil` if one is already running, or that much is free.
    package mutating func evictToWatermark() -> EvictionGoal? {
        var goal = EvictionGoal(bytes: space.watermark)
        let most = space.budget.maximumEntries
        if entriesToCome(ifOver: most - 1) >= most { goal.entries = Budget.watermark(most) }
        guard !space.isEvicting, isOver(goal, isOwn: true) else { return nil }
        space.isEvicting = true
        return goal
    }

    // MARK: Entries that must not be stored

    /// Takes the entries that must not be stored and whose time is over, or whose clock was set back.
    ///
    /// The callers that waited for such an entry get time to open it first. Pinned entries stay because the user
    /// pinned them.
    ///
    /// - Parameters:
    ///   - isGiven: whether callers of an entry have not been notified yet. It stays for another `time` seconds.
    ///   - isPublishing: whether a newer file is about to replace that of an entry.
    /// - Returns: the files to unlink, and whether there are more than `limit`.
    package mutating func takeNotStorable(
        now: UnixTime, time: Int64, limit: Int, isGiven: (CacheKey) -> Bool,
        isPublishing: (CacheKey) -> Bool
    ) -> (victims: [Victim], hasMore: Bool) {
        var victims: [Victim] = []
        for (key, end) in noStoreGrace.all {
            if isGiven(key) {
                noStoreGrace.extend(key, to: now + time)
                continue
            }
            guard let facts = facts(of: key) else {
                noStoreGrace.remove(key)
                continue
            }
            guard end <= now || facts.fetchedAt > now, !facts.isPinned, isRemovable(key),
                !isPublishing(key)
            else { continue }
            guard victims.count < limit else { return (victims, true) }
            noStoreGrace.remove(key)
            if let victim = unlinkPending(key) { victims.append(victim) }
        }
        return (victims, false)
    }

    /// Whether the entry can be removed now: its name has been probed, and its file can be unlinked.
    private func isRemovable(_ key: CacheKey) -> Bool {
        !dirtyNames.contains(key) && !space.unlinkFailed.contains(key)
    }
}
