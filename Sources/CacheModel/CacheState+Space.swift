package import CacheDisk
package import CacheFetching
package import CacheKey
package import CacheValues

/// Entries leave: evicted, withdrawn, or gone with their files.
extension CacheState {
    // MARK: After an unlink

    /// The files of these victims have been unlinked.
    package mutating func unlinked(_ victims: some Sequence<Victim>, _ effects: inout Effects) {
        for victim in victims where victim.isEvicted {
            fetching.counters.evicted += Removal(entries: 1, bytes: victim.bytes)
        }
        disk.unlinked(victims)
        unlinkEnded(&effects)
    }

    /// These victims were not unlinked. Their entries return to the index.
    package mutating func unlinkAborted(_ victims: some Sequence<Victim>, _ effects: inout Effects)
    {
        for key in disk.unlinkAborted(victims, fetching.use) { fetching.changed(key, &effects) }
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
        if disk.space.reservations.isEmpty { fetching.spaceReleased(&effects) }
    }

    // MARK: Evicting

    /// Postpones work until the directory has been read. Returns `false` if it has been read or the cache is shutting
    /// down, so the caller does the work itself.
    package mutating func postpones(_ begin: @escaping @Sendable () -> Void) -> Bool {
        !fetching.isDraining && disk.postpones(begin)
    }

    /// Chooses the next victims of an eviction, and says whether they are the last. They are if the cache is shutting
    /// down.
    package mutating func evictionSlice(
        _ goal: EvictionGoal, isOwn: Bool, limit: Int = VictimSearch.slice,
        _ effects: inout Effects
    ) -> (victims: [Victim], isLast: Bool) {
        let slice = disk.evictionSlice(
            goal, isOwn: isOwn, limit: fetching.isDraining ? 0 : limit, fetching.use)
        fetching.leftIndex(slice.victims, &effects)
        // The limits may have shrunk during the eviction.
        if slice.isLast, isOwn, !disk.isOver(goal, isOwn: true) {
            fetching.limitsChecked(&effects)
        }
        return slice
    }

    /// Chooses victims among the first of these entries: those that were not used since, are not pinned and not in flight.
    /// Says whether they are the last.
    package mutating func evictionSlice(
        of entries: ArraySlice<ListedEntry>, limit: Int = VictimSearch.slice,
        _ effects: inout Effects
    ) -> (victims: [Victim], isLast: Bool) {
        guard !fetching.isDraining else { return ([], true) }
        let victims = disk.victims(of: entries.prefix(limit), fetching.use)
        fetching.leftIndex(victims, &effects)
        return (victims, entries.count <= limit)
    }

    /// The limits have changed. An image that was too large for the old limits may fit the new ones.
    package mutating func limitsSet(_ budget: Budget, _ effects: inout Effects) {
        if disk.limitsSet(budget) { fetching.forgetFailures(.tooLarge, &effects) }
        fetching.limitsChecked(&effects)
        fetching.spaceReleased(&effects)
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
            now: now, time: time, limit: limit,
            isGiven: { [waiters = fetching.waiters] in waiters.isGiven($0) },
            isPublishing: { [downloads = fetching.downloads] in downloads.isPublishing($0) })
        for victim in victims { withdrew(victim, because: .notStored, &effects) }
        return hasMore
    }

    /// A transfer failed. The entry is removed if its origin no longer has the image.
    package mutating func transferFailed(
        _ key: CacheKey, _ id: FlightID, _ failed: FailedTransfer, now: Moment,
        using random: inout some RandomNumberGenerator, _ effects: inout Effects
    ) {
        let isGone = fetching.downloadFailed(
            key, id, failed, now: now, using: &random, &effects)
        guard isGone, let victim = disk.unlinkPending(key) else { return }
        withdrew(victim, because: .gone, &effects)
    }

    private mutating func withdrew(
        _ victim: Victim, because reason: HistoryEvent.Reason, _ effects: inout Effects
    ) {
        if case .entry(let key) = victim.name {
            effects.events.append(
                HistoryEvent(.removed, key, nil, bytes: victim.bytes, because: reason))
        }
        fetching.counters.withdrawn += Removal(entries: 1, bytes: victim.bytes)
        effects.work.append(.unlink(victim))
        fetching.leftIndex([victim], &effects)
    }
}
