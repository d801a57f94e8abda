import CacheDisk
package import CacheFetching
package import CacheKey
package import CacheValues

/// Removals and pins that a user requests.
extension CacheState {
    /// Removes an entry and stops its download.
    ///
    /// - Parameter sparesPinned: whether a pinned entry stays. It does in a removal that does not
    ///   name it.
    /// - Parameter user: the user who asked.
    /// - Returns: the entry and the bytes removed from the index. Its file is unlinked later.
    package mutating func removeAsked(
        _ key: CacheKey, sparesPinned: Bool, by user: UserID? = nil, _ effects: inout Effects
    ) -> Removal {
        disk.space.retryEviction(of: .entry(key))
        if sparesPinned, disk.facts(of: key)?.isPinned == true { return .nothing }
        if !sparesPinned { disk.forgetLostPin(of: key) }
        fetching.removed(key, by: user, &effects)
        if fetching.forgetFailure(of: key) { fetching.changed(key, &effects) }
        // While a new file is being published, an unlink queued now would remove the new file.
        if fetching.downloads.isPublishing(key) {
            guard let bytes = disk.forget(key) else { return .nothing }
            return removed(key, bytes, by: user, &effects)
        }
        guard let victim = disk.unlinkPending(key) else { return .nothing }
        effects.work.append(.unlink(victim))
        return removed(key, victim.bytes, by: user, &effects)
    }

    private mutating func removed(
        _ key: CacheKey, _ bytes: Int64, by user: UserID?, _ effects: inout Effects
    ) -> Removal {
        fetching.counters.removed += 1
        effects.events.append(
            HistoryEvent(.removed, key, nil, bytes: bytes, because: .requested, by: user))
        fetching.changed(key, &effects)
        return Removal(entries: 1, bytes: bytes)
    }

    /// A verification found an entry damaged and removed its file.
    ///
    /// - Parameter isPinned: whether the file held the pin of the image.
    package mutating func damageFound(
        _ key: CacheKey, isPinned: Bool = false, _ effects: inout Effects
    ) {
        fetching.counters.damaged += 1
        effects.events.append(HistoryEvent(.damaged, key, nil))
        if disk.damaged(key, isPinned: isPinned) { fetching.changed(key, &effects) }
    }

    // MARK: Pins

    /// A pin was set or cleared: in the record of the entry or, if there is no file yet, for the
    /// image that a download will publish.
    package mutating func pinned(_ key: CacheKey, _ isPinned: Bool, _ effects: inout Effects) {
        disk.invalidateProbes(of: key)
        let wasPinned = fetching.isPinned(key)
        let isFlying = fetching.setPinned(key, isPinned)
        let isEntry = disk.setPinned(key, isPinned)
        if isFlying || isEntry, isPinned != wasPinned { fetching.changed(key, &effects) }
        fetching.spaceReleased(&effects)
    }
}
