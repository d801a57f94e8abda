package import CacheKey

/// What memory knows of the entries in the directory, and how far that may be believed.
///
/// Invariant: the catalog vouches for a key, or the key has to be probed; see ``needsProbe(_:)``.
package struct Catalog: ~Copyable, Sendable {
    package private(set) var index = Index()
    package var validity = IndexValidity.loading
    /// Names that changed and were not probed since.
    package private(set) var dirtyNames: Set<CacheKey> = []
    package private(set) var accessTimes = AccessTimes()
    /// Whether a scan runs, or has to be repeated.
    package private(set) var isScanning = false
    /// How often changes were lost.
    package private(set) var losses = 0
    private var epochs = ChangeEpochs()
    /// Changes were lost during the first scan, or another directory lies at the path, and no scan was
    /// completed since.
    private var isPartlyRead = false
    /// Changes were lost since the running scan began, so it has to be repeated.
    private var lostChanges = false

    /// Whether the directory was read to its end. Before that neither the bytes in it nor the least
    /// recently used entry is known, so nothing may be evicted.
    package var isRead: Bool { validity != .loading && !isPartlyRead }

    // MARK: Looking up

    /// Whether the answer for a key takes a look at its name.
    package func needsProbe(_ key: CacheKey) -> Bool {
        switch validity {
        case .stale: true
        case .complete: !dirtyNames.isEmpty && dirtyNames.contains(key)
        case .loading: dirtyNames.contains(key) || !index.contains(key)
        }
    }

    package func contains(_ key: CacheKey) -> Bool { index.contains(key) }

    package func facts(of key: CacheKey) -> EntryFacts? { index.facts(of: key) }

    // MARK: Probes

    /// A probe of names outside the lock begins; ``endProbe()`` follows.
    package mutating func beginProbe() -> ChangeEpochs.Start { epochs.begin() }

    package mutating func endProbe() { epochs.end() }

    /// Whether a probe that began then is still true of this name.
    package func isCurrent(_ key: CacheKey, since start: ChangeEpochs.Start) -> Bool {
        epochs.isCurrent(key, since: start)
    }

    /// The name was probed, and the result is about to be taken in.
    package mutating func clean(_ key: CacheKey) { dirtyNames.remove(key) }

    // MARK: Entries

    /// Takes in what the file of an entry shows, without counting that as a use.
    ///
    /// - Parameter isOldest: where a new entry goes in the order of use: a scan puts it at the end, because
    ///   it sorts all entries later.
    /// - Returns: whether the entry is new to the index.
    package mutating func insert(_ key: CacheKey, _ facts: EntryFacts, isOldest: Bool = false)
        -> Bool
    {
        if index.update(key, facts) { return false }
        if isOldest { index.insertOldest(key, facts) } else { index.insert(key, facts) }
        return true
    }

    /// An image was published under this key.
    package mutating func published(_ key: CacheKey, _ facts: EntryFacts, isUndisturbed: Bool) {
        index.insert(key, facts)
        accessTimes.published(key, facts.lastUsedAt, in: &index)
        if isUndisturbed { dirtyNames.remove(key) } else { dirtyNames.insert(key) }
    }

    /// Removes an entry from the index. What a probe that runs now has seen of it no longer counts.
    package mutating func remove(_ key: CacheKey) -> EntryFacts? {
        guard let facts = index.remove(key) else { return nil }
        epochs.note(key)
        return facts
    }

    /// The file of an entry that was removed from the index is still there after all.
    package mutating func restore(_ key: CacheKey, _ facts: EntryFacts) {
        index.restore(key, facts)
    }

    /// Sets or clears the pin; `false` if there is no entry.
    package mutating func setPinned(_ key: CacheKey, _ isPinned: Bool) -> Bool {
        index.setPinned(key, isPinned)
    }

    // MARK: Changes in the directory

    /// Something happened under this name: running probes of it are void.
    package mutating func touched(_ key: CacheKey) { epochs.note(key) }

    /// Something happened under this name, so it has to be probed again.
    package mutating func becameDirty(_ key: CacheKey) {
        epochs.note(key)
        dirtyNames.insert(key)
    }

    /// The name has to be probed again; running probes of it stay good.
    package mutating func needsProbeAgain(_ key: CacheKey) { dirtyNames.insert(key) }

    /// The name is gone; whether there was an entry.
    package mutating func vanished(_ key: CacheKey) -> Bool {
        epochs.note(key)
        dirtyNames.remove(key)
        return index.remove(key) != nil
    }

    /// Changes were lost; nothing in the index is certain.
    package mutating func changesLost() {
        lostChanges = true
        losses += 1
        accessTimes.forgetOwnOpens()
        index.restartEviction()
        isPartlyRead = !isRead
        validity = .stale
    }

    /// The path leads to another directory. Whether a scan has to be started.
    package mutating func directoryReplaced() -> Bool {
        changesLost()
        isPartlyRead = true
        return !isScanning
    }

    // MARK: Scans

    package mutating func scanBegan() {
        lostChanges = false
        isScanning = true
    }

    /// Puts a stretch of scanned entries into the order of use. Stretches come from the most recently used
    /// to the least; entries used during the scan keep their place.
    package mutating func sort(_ stretch: ArraySlice<(key: CacheKey, lastUsedAt: FileTime)>) {
        for (key, time) in stretch { index.makeOldest(key, usedAt: time) }
    }

    /// A scan is through and sorted.
    ///
    /// - Parameter isWatched: whether changes are watched. If they are not, the index stays stale.
    /// - Returns: `false` if changes were lost meanwhile and the scan has to be repeated.
    package mutating func scanFinished(isWatched: Bool) -> Bool {
        validity = isWatched && !lostChanges ? .complete : .stale
        isScanning = validity != .complete && isWatched
        isPartlyRead = isPartlyRead && isScanning
        return !isScanning
    }

    // MARK: Use

    /// A caller used an entry; nothing happens if there is none.
    package mutating func used(_ key: CacheKey, at now: FileTime) {
        accessTimes.used(key, at: now, in: &index)
    }

    /// The watch reports that the file was opened. `false` if this process opened it.
    package mutating func isOpenedByOthers(_ key: CacheKey) -> Bool {
        !accessTimes.takeOwnOpen(of: key)
    }

    /// Some of the uses that are not written to the files yet, in no order. ``accessTimesFlushed(_:)``
    /// follows. The result may be empty although others are pending: entries are removed meanwhile.
    package mutating func takeAccessTimes(limit: Int) -> [(key: CacheKey, time: FileTime)] {
        accessTimes.take(limit: limit, from: &index)
    }

    package mutating func accessTimesFlushed(_ keys: some Sequence<CacheKey>) {
        accessTimes.flushed(keys)
    }

    /// The cache is about to open the file itself, which is not a use.
    package mutating func openingItself(_ key: CacheKey) { accessTimes.openingItself(key) }

    /// It could not open the file, so the watch will not report it.
    package mutating func didNotOpen(_ key: CacheKey) { _ = accessTimes.takeOwnOpen(of: key) }

    // MARK: Eviction

    /// The least recently used entry that is neither pinned nor spared; see ``Index/oldestUnpinned``.
    package mutating func nextVictim(steps: inout Int, unless isSpared: (CacheKey) -> Bool)
        -> CacheKey?
    {
        index.oldestUnpinned(steps: &steps, unless: isSpared)
    }

    /// The entry may no longer be spared.
    package mutating func maybeUnspared(_ key: CacheKey) { index.maybeUnspared(key) }

    /// Any entry may no longer be spared.
    package mutating func restartEviction() { index.restartEviction() }

    package func checkInvariants(isSpared: (CacheKey) -> Bool) {
        index.checkInvariants(isSpared: isSpared)
    }
}
