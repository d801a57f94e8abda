package import CacheDisk
package import CacheKey
package import CacheValues

/// Space for downloads, and evictions that make it: downloads ask, the disk half answers.
extension CacheState {
    /// How downloads and callers use the files of a key.
    private var use: (CacheKey) -> FileUse {
        { [downloads, waiters] key in
            let use = downloads.use(key)
            return use == .none && waiters.isGiven(key) ? .given : use
        }
    }

    // MARK: Requesting space

    /// A download requests space before it writes.
    ///
    /// - Parameters:
    ///   - needed: bytes of the image that it is about to have on the disk.
    ///   - length: bytes of the whole image, if the origin gave its length.
    package mutating func spaceRequested(
        _ key: CacheKey, _ id: FlightID, needed: Int64, length: Int64?, _ effects: inout Effects
    ) -> SpaceAnswer {
        guard let flight = downloads.flight(key, id) else {
            return SpaceAnswer(grant: .refused(.removed))
        }
        let mayHavePartial = disk.space.partials.mayHold(key)
        let reserved = disk.space.reserved
        let answer = disk.reserve(
            for: key, needed: needed, length: length, received: flight.intake.received, use)
        leftIndex(answer.victims, &effects)
        switch answer.grant {
        case .granted:
            if disk.space.reserved > reserved {
                if mayHavePartial { downloads.update(key) { $0.observer.foundPartial() } }
                // A download of unknown length may need more later, which another should not take before.
                if length != nil { spaceReleased(&effects) }
            }
            if !answer.victims.isEmpty { evictToWatermark(&effects) }
        case .evicting: break
        case .refused(.waitsForSpace): waitForSpace(key, &effects)
        case .refused(let failure): countRefusal(failure)
        }
        return answer
    }

    /// The head of a response gives the length of the image. Nothing is reserved yet.
    ///
    /// - Returns: the failure if the cache cannot hold an image of that length at all.
    package mutating func lengthPromised(
        _ key: CacheKey, _ id: FlightID, _ length: Int64
    ) -> Failure? {
        guard downloads.flight(key, id) != nil else { return .removed }
        let failure = disk.refusal(of: key, bytes: length)
        if let failure { countRefusal(failure) }
        return failure
    }

    private mutating func countRefusal(_ failure: Failure) {
        if failure.kind == .noRoom { counters.refused += 1 }
    }

    /// The disk is full, although the ledger counts free space. Chooses victims for a download that
    /// lacks `bytes` bytes, or none if all together would not free enough.
    package mutating func diskFilled(
        _ key: CacheKey, _ bytes: Int64, _ effects: inout Effects
    ) -> [Victim] {
        guard downloads.contains(key) else { return [] }
        let victims = disk.diskFilled(key, bytes, use)
        leftIndex(victims, &effects)
        return victims
    }

    private mutating func leftIndex(_ victims: [Victim], _ effects: inout Effects) {
        for case .entry(let key) in victims.lazy.map(\.name) { changed(key, &effects) }
    }

    /// Records a measurement of the file system's free bytes.
    package mutating func measured(free: Int64) { disk.measured(free: free) }

    /// Some space may have become free, so another download can start.
    package mutating func spaceReleased(_ effects: inout Effects) {
        if disk.space.becameFree(isWaitedFor: !scheduler.isQueueEmpty) { startTransfers(&effects) }
    }

    // MARK: After an unlink

    /// The files of these victims have been unlinked.
    package mutating func unlinked(_ victims: some Sequence<Victim>, _ effects: inout Effects) {
        for victim in victims where victim.isEvicted {
            counters.evicted = counters.evicted + Removal(entries: 1, bytes: victim.bytes)
        }
        disk.unlinked(victims)
        unlinkEnded(&effects)
    }

    /// These victims were not unlinked. Their entries return to the index.
    package mutating func unlinkAborted(_ victims: some Sequence<Victim>, _ effects: inout Effects)
    {
        for key in disk.unlinkAborted(victims, use) { changed(key, &effects) }
        unlinkEnded(&effects)
    }

    /// The unlinks of these victims failed.
    ///
    /// - Parameter othersCould: whether other files could be unlinked. If so, evictions skip these
    ///   victims until they change, a user requests an eviction, or an hour has passed.
    package mutating func unlinkFailed(
        _ victims: [Victim], othersCould: Bool, _ effects: inout Effects
    ) {
        for victim in victims { disk.space.unlinkFailed(victim, othersCould: othersCould) }
        unlinkAborted(victims, &effects)
    }

    private mutating func unlinkEnded(_ effects: inout Effects) {
        // While a download holds a reservation, the freed bytes may already be granted to it, and
        // `spaceReleased` runs when it ends. Without a holder nothing else would wake a waiting download.
        if disk.space.reservations.isEmpty { spaceReleased(&effects) }
    }

    // MARK: Evicting

    /// Postpones work until the directory has been read. Returns `false` if it has been read or the cache is shutting
    /// down, so the caller does the work itself.
    package mutating func postpones(_ begin: @escaping @Sendable () -> Void) -> Bool {
        !isDraining && disk.postpones(begin)
    }

    /// Chooses the next victims of an eviction, and says whether they are the last. They are if the cache is shutting
    /// down.
    package mutating func evictionSlice(
        _ goal: EvictionGoal, isOwn: Bool, limit: Int = VictimSearch.slice,
        _ effects: inout Effects
    ) -> (victims: [Victim], isLast: Bool) {
        let slice = disk.evictionSlice(
            goal, isOwn: isOwn, limit: isDraining ? 0 : limit, use)
        leftIndex(slice.victims, &effects)
        // The limits may have shrunk during the eviction.
        if slice.isLast, isOwn, !disk.isOver(goal, isOwn: true) { limitsChecked(&effects) }
        return slice
    }

    /// Chooses victims among the first of these entries: those that were not used since, are not pinned and not in flight.
    /// Says whether they are the last.
    package mutating func evictionSlice(
        of entries: ArraySlice<ListedEntry>, limit: Int = VictimSearch.slice,
        _ effects: inout Effects
    ) -> (victims: [Victim], isLast: Bool) {
        guard !isDraining else { return ([], true) }
        let victims = disk.victims(of: entries.prefix(limit), use)
        leftIndex(victims, &effects)
        return (victims, entries.count <= limit)
    }

    /// Nothing can be unlinked, so the cache gives its own eviction up.
    package mutating func evictionGivenUp() { disk.space.evictionGivenUp() }

    /// A user requests an eviction, or time has passed: files that could not be unlinked are tried again.
    package mutating func evictionsRetried() { disk.space.retryAllEvictions() }

    /// The limits have changed. An image that was too large for the old limits may fit the new ones.
    package mutating func limitsSet(_ budget: Budget, _ effects: inout Effects) {
        if disk.limitsSet(budget) {
            for key in failures.forgetAll(.tooLarge) { changed(key, &effects) }
        }
        limitsChecked(&effects)
        spaceReleased(&effects)
    }

    /// The limits may be exceeded because they changed, an entry was added, or other programs wrote
    /// to the disk.
    package mutating func limitsChecked(_ effects: inout Effects) {
        if disk.isOverLimits { evictToWatermark(&effects) }
    }

    /// Starts an eviction that leaves a tenth of the limits free, unless one is already running.
    private mutating func evictToWatermark(_ effects: inout Effects) {
        guard !isDraining, let goal = disk.evictToWatermark() else { return }
        effects.work.append(.evict(goal))
    }

    // MARK: Entries that must not be stored

    /// Removes entries that must not be stored, when time has passed or the clock was set back. A caller that also
    /// waits for other images has not been notified yet, so its entry stays for another `time` seconds.
    ///
    /// - Returns: whether there are more than `limit`.
    package mutating func removeNotStorable(
        now: UnixTime, time: Int64, limit: Int = VictimSearch.slice, _ effects: inout Effects
    ) -> Bool {
        // Until the directory has been read, the index may describe a directory that was replaced.
        guard !disk.noStoreGrace.isEmpty, disk.isRead else { return false }
        let (victims, hasMore) = disk.takeNotStorable(
            now: now, time: time, limit: limit, isGiven: { [waiters] in waiters.isGiven($0) },
            isPublishing: { [downloads] in downloads.isPublishing($0) })
        for victim in victims { withdrew(victim, because: .notStored, &effects) }
        return hasMore
    }

    /// Removes an entry that its origin no longer has.
    mutating func withdraw(_ key: CacheKey, _ effects: inout Effects) {
        if let victim = disk.unlinkPending(key) { withdrew(victim, because: .gone, &effects) }
    }

    private mutating func withdrew(
        _ victim: Victim, because reason: HistoryEvent.Reason, _ effects: inout Effects
    ) {
        if case .entry(let key) = victim.name {
            effects.events.append(
                HistoryEvent(.removed, key, nil, bytes: victim.bytes, because: reason))
        }
        counters.withdrawn = counters.withdrawn + Removal(entries: 1, bytes: victim.bytes)
        effects.work.append(.unlink(victim))
        leftIndex([victim], &effects)
    }
}
