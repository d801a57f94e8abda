package import CacheKey
package import CacheValues

/// The entries of the directory as memory knows them, and how far that knowledge can be trusted.
///
/// Invariant: the catalog vouches for a key, or the key has to be probed; see ``needsProbe(_:)``.
package struct Catalog: ~Copyable, Sendable {
    package private(set) var index = Index()
    package var validity = IndexValidity.loading
    /// Names that changed and have not been probed since.
    package private(set) var dirtyNames: Set<CacheKey> = []
    package private(set) var accessTimes = AccessTimes()
    /// Whether a scan is running or has to be repeated.
    package private(set) var isScanning = false
    /// The number of times that changes were lost.
    package private(set) var losses = 0
    /// Keys of pinned images whose damaged files were removed, until another file takes the name.
    private var lostPins: Set<CacheKey> = []
    private var epochs = ChangeEpochs()
    /// Whether changes were lost during the first scan, or another directory lies at the path, and
    /// no scan has been completed since.
    private var isPartlyRead = false
    /// Whether changes were lost since the running scan began, so that it has to be repeated.
    private var lostChanges = false

    package init() {}

    /// Whether the directory has been read completely. Until then the bytes in it and the least
    /// recently used entry are unknown, so nothing can be evicted.
    package var isRead: Bool { validity != .loading && !isPartlyRead }

    // MARK: Looking up

    /// Whether the name of a key has to be probed before the cache can answer for it.
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

    /// A probe of names outside the lock begins. ``endProbe()`` follows.
    package mutating func beginProbe() -> ChangeEpochs.Start { epochs.begin() }

    package mutating func endProbe() { epochs.end() }

    /// Whether a probe that began at `start` is still true of this name.
    package func isCurrent(_ key: CacheKey, since start: ChangeEpochs.Start) -> Bool {
        epochs.isCurrent(key, since: start)
    }

    /// The name was probed, and the result is about to be applied.
    package mutating func clean(_ key: CacheKey) { dirtyNames.remove(key) }

    // MARK: Entries

    /// Adds or updates an entry from its file, without counting that as a use.
    ///
    /// - Parameter isOldest: whether a new entry becomes the least recently used instead of the
    ///   most recently used. A scan inserts entries that way, because it sorts all of them later.
    /// - Returns: whether the entry is new to the index.
    package mutating func insert(_ key: CacheKey, _ facts: EntryFacts, isOldest: Bool = false)
        -> Bool
    {
        lostPins.remove(key)
        if index.update(key, facts) { return false }
        if isOldest { index.insertOldest(key, facts) } else { index.insert(key, facts) }
        return true
    }

    /// An image was published under this key.
    package mutating func published(_ key: CacheKey, _ facts: EntryFacts, isUndisturbed: Bool) {
        lostPins.remove(key)
        index.insert(key, facts)
        accessTimes.published(key, facts.lastUsedAt, in: &index)
        if isUndisturbed { dirtyNames.remove(key) } else { dirtyNames.insert(key) }
    }

    /// Removes an entry from the index. A probe of its name that is running now becomes void.
    package mutating func remove(_ key: CacheKey) -> EntryFacts? {
        guard let facts = index.remove(key) else { return nil }
        epochs.note(key)
        return facts
    }

    /// Bytes that the disk would hold no longer if the file's name went away.
    package func bytesFreed(byRemoving key: CacheKey) -> Int64 {
        index.bytesFreed(byRemoving: key)
    }

    /// Records what the file of an entry says about its digest.
    package mutating func setDigestPrefix(_ prefix: UInt32, of key: CacheKey) {
        index.setDigestPrefix(prefix, of: key)
    }

    /// Returns a removed entry to the index, because its file still exists.
    package mutating func restore(_ key: CacheKey, _ facts: EntryFacts) {
        index.restore(key, facts)
    }

    /// Whether the entry is pinned, or the image was before its damaged file was removed.
    package func isPinned(_ key: CacheKey) -> Bool {
        facts(of: key)?.isPinned ?? lostPins.contains(key)
    }

    /// Sets or clears the pin. `false` if there is no entry.
    package mutating func setPinned(_ key: CacheKey, _ isPinned: Bool) -> Bool {
        if !isPinned { lostPins.remove(key) }
        return index.setPinned(key, isPinned)
    }

    /// Forgets the pin of an image whose damaged file was removed.
    package mutating func forgetLostPin(of key: CacheKey) { lostPins.remove(key) }

    // MARK: Changes in the directory

    /// The name changed, so running probes of it are void.
    package mutating func invalidateProbes(of key: CacheKey) { epochs.note(key) }

    /// The name changed, so it has to be probed again, and running probes of it are void.
    package mutating func becameDirty(_ key: CacheKey) {
        epochs.note(key)
        dirtyNames.insert(key)
    }

    /// The name has to be probed again, but running probes of it stay valid.
    package mutating func needsProbeAgain(_ key: CacheKey) { dirtyNames.insert(key) }

    /// The name no longer exists.
    ///
    /// - Returns: whether it had an entry.
    package mutating func vanished(_ key: CacheKey) -> Bool {
        epochs.note(key)
        dirtyNames.remove(key)
        return index.remove(key) != nil
    }

    /// The file of an entry was damaged, and its name was removed. The name is probed once more in case the
    /// removal failed.
    ///
    /// - Returns: whether it had an entry.
    package mutating func damaged(_ key: CacheKey, isPinned: Bool) -> Bool {
        let hadEntry = vanished(key)
        dirtyNames.insert(key)
        if isPinned { lostPins.insert(key) }
        return hadEntry
    }

    /// Changes were lost, so nothing in the index is certain.
    package mutating func changesLost() {
        lostChanges = true
        losses += 1
        accessTimes.forgetOwnOpens()
        isPartlyRead = !isRead
        validity = .stale
    }

    /// Another directory lies at the path.
    ///
    /// - Returns: whether a scan has to be started.
    package mutating func directoryReplaced() -> Bool {
        changesLost()
        lostPins = []
        isPartlyRead = true
        return !isScanning
    }

    // MARK: Scans

    package mutating func scanBegan() {
        lostChanges = false
        isScanning = true
    }

    /// Sorts a batch of scanned entries into the order of use. Batches come from the most recently
    /// used to the least recently used. Entries used during the scan keep their position.
    package mutating func sort(_ stretch: ArraySlice<(key: CacheKey, lastUsedAt: FileTime)>) {
        for (key, time) in stretch { index.makeOldest(key, usedAt: time) }
    }

    /// A scan has ended, and its entries are sorted.
    ///
    /// - Parameter isWatched: whether changes are watched. If they are not, the index stays stale.
    /// - Returns: `false` if changes were lost during the scan and it has to be repeated.
    package mutating func scanFinished(isWatched: Bool) -> Bool {
        validity = isWatched && !lostChanges ? .complete : .stale
        isScanning = validity != .complete && isWatched
        isPartlyRead = isPartlyRead && isScanning
        return !isScanning
    }

    // MARK: Use

    /// A caller used an entry. Does nothing if there is no entry.
    package mutating func used(_ key: CacheKey, at now: FileTime) {
        accessTimes.used(key, at: now, in: &index)
    }

    /// The watch reports that the file was opened. `false` if this process opened it.
    package mutating func isOpenedByOthers(_ key: CacheKey) -> Bool {
        !accessTimes.takeOwnOpen(of: key)
    }

    /// Takes some of the times of use that have not been written to the files, in no order.
    /// ``accessTimesFlushed(_:)`` follows.
    package mutating func takeAccessTimes(limit: Int) -> [(key: CacheKey, time: FileTime)] {
        accessTimes.take(limit: limit, from: &index)
    }

    package mutating func accessTimesFlushed(_ keys: some Sequence<CacheKey>) {
        accessTimes.flushed(keys)
    }

    /// The cache is about to open the file itself, which is not a use.
    package mutating func openingItself(_ key: CacheKey) { accessTimes.openingItself(key) }

    /// The cache could not open the file, so the watch will not report an opening.
    package mutating func didNotOpen(_ key: CacheKey) { _ = accessTimes.takeOwnOpen(of: key) }

    package func checkInvariants() { index.checkInvariants() }
}
