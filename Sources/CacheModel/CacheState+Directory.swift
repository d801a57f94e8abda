package import CacheDisk
package import CacheFetching
package import CacheKey
package import CacheValues

/// What is seen in the directory.
extension CacheState {
    // MARK: Probes

    /// A probe of one name has finished, and ends here.
    ///
    /// - Returns: the answer for the key. `nil` if the name changed during the probe and has to be
    ///   probed again.
    package mutating func probed(
        _ key: CacheKey, _ probe: EntryProbe, since start: ChangeEpochs.Start, now: FileTime,
        _ effects: inout Effects
    ) -> Lookup? {
        defer { disk.endProbe() }
        guard !hasPendingFile(key) else { return fetching.known(key) }
        guard disk.isCurrent(key, since: start) else { return nil }
        let isNew = take(key, probe, &effects)
        // Another program has just added the file, which counts as a use. During a scan the file's
        // access time shows its last use.
        if isNew, disk.validity == .complete { disk.used(key, at: now) }
        return fetching.known(key)
    }

    /// The scan has probed a batch of names. The probe ends here.
    package mutating func scanned(
        _ batch: [ScannedName], since start: ChangeEpochs.Start, _ effects: inout Effects
    ) {
        for name in batch {
            guard case .entry(let key, let probe) = name else {
                disk.scanned(name, since: start)
                continue
            }
            guard !hasPendingFile(key), disk.isCurrent(key, since: start) else { continue }
            _ = take(key, probe, isScan: true, &effects)
        }
        disk.endProbe()
    }

    /// Whether a probe of the name is meaningless, because the cache is about to replace its file,
    /// or to unlink the file of an entry that has left the index.
    private func hasPendingFile(_ key: CacheKey) -> Bool {
        fetching.downloads.isPublishing(key) || disk.space.unlinking.contains(key)
    }

    /// Applies the result of a probe.
    ///
    /// - Returns: whether the probe found an entry that the index did not have.
    private mutating func take(
        _ key: CacheKey, _ probe: EntryProbe, isScan: Bool = false, _ effects: inout Effects
    ) -> Bool {
        let before = fetching.changes.isObserved ? disk.facts(of: key) : nil
        let cameOrWent = disk.found(key, probe, isScan: isScan)
        switch probe {
        case .entry(let facts):
            if cameOrWent { fetching.forgetFailure(of: key) }
            if before?.saysTheSame(as: facts) != true { fetching.changed(key, &effects) }
            return cameOrWent
        case .obstructed:
            let isNews = fetching.obstructed(key) || cameOrWent
            if isNews { fetching.changed(key, &effects) }
        case .absent, .unusable: nameBecameFree(key, hadEntry: cameOrWent, &effects)
        }
        return false
    }

    /// The name has no entry, and no directory obstructs it.
    private mutating func nameBecameFree(
        _ key: CacheKey, hadEntry: Bool, _ effects: inout Effects
    ) {
        let wasObstructed = fetching.cleared(key)
        if hadEntry {
            effects.events.append(HistoryEvent(.removed, key, nil, because: .outside))
        }
        if hadEntry || wasObstructed { fetching.changed(key, &effects) }
    }

    // MARK: Changes in the directory

    /// The directory watch reports a change. The cache itself or another program made it.
    package mutating func directoryChanged(
        _ change: DirectoryChange, now: @autoclosure () -> FileTime, _ effects: inout Effects
    ) {
        let hadEntry = disk.directoryChanged(change, now: now)
        switch change {
        case .opened: break
        case .partialChanged(let key), .partialVanished(let key), .appeared(let key),
            .created(let key):
            fetching.fileChanged(key, change)
        case .vanished(let key):
            fetching.fileChanged(key, change)
            nameBecameFree(key, hadEntry: hadEntry, &effects)
        case .overflowed: if hadEntry { effects.notices.append(.scanNeeded) }
        }
    }

    /// Another directory lies at the path now, so nothing in memory is certain.
    ///
    /// - Parameter budget: the limits that follow from its file system. `nil` if they are not known.
    package mutating func directoryReplaced(budget: Budget? = nil, _ effects: inout Effects) {
        if disk.directoryReplaced(budget) { effects.notices.append(.scanNeeded) }
    }

    /// The scan has ended, and its entries are sorted by use.
    ///
    /// - Parameter isWatched: whether the watch reports every change from now on.
    /// - Returns: `false` if the scan has to be repeated.
    package mutating func scanFinished(isWatched: Bool) -> Bool {
        fetching.isDraining || disk.scanFinished(isWatched: isWatched)
    }
}
