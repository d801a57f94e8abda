package import CacheKey
package import CacheValues

/// The disk half of the state: what lies in the directory as memory knows it, how far that can be trusted, and
/// which files go when space is needed.
///
/// It knows nothing of downloads and callers: events pass in what it has to know of them, and get back
/// what follows for them. Outside of this target, its parts change only by these events and those of
/// ``space`` and ``accessTimes``.
///
/// Invariant: the index vouches for a key, or the key has to be probed; see ``needsProbe(_:)``.
package struct DiskState: ~Copyable, Sendable {
    package internal(set) var index = Index()
    package internal(set) var validity = IndexValidity.loading
    /// Names that changed and have not been probed since.
    package private(set) var dirtyNames: Set<CacheKey> = []
    package var accessTimes = AccessTimes()
    /// Whether a scan is running or has to be repeated.
    package private(set) var isScanning = false
    /// The bytes on the disk, and the bytes reserved.
    package var space: SpaceLedger
    /// Images that must not be stored, and when each is removed.
    package internal(set) var noStoreGrace = NoStoreGrace()
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

    package init(budget: Budget) { space = SpaceLedger(budget: budget) }

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
    mutating func clean(_ key: CacheKey) { dirtyNames.remove(key) }

    // MARK: Entries

    /// Adds or updates an entry from its file, without counting that as a use.
    ///
    /// - Parameter isScan: whether a scan found it. A new entry then becomes the least recently used instead of the
    ///   most recently used, because the scan sorts all of them later.
    /// - Returns: whether the entry is new to the index.
    package mutating func insert(_ key: CacheKey, _ facts: EntryFacts, isScan: Bool = false)
        -> Bool
    {
        lostPins.remove(key)
        let isNew = !index.update(key, facts)
        if isNew, isScan { index.insertOldest(key, facts) }
        if isNew, !isScan { index.insert(key, facts) }
        if isScan { index.found(key, usedAt: facts.lastUsedAt) }
        return isNew
    }

    /// An image was published under this key.
    ///
    /// - Parameters:
    ///   - isUndisturbed: whether no other program can have touched the name since.
    ///   - leavesNoPartial: whether it is certain that the name of the partial is gone.
    package mutating func published(
        _ key: CacheKey, _ facts: EntryFacts, isUndisturbed: Bool, leavesNoPartial: Bool
    ) {
        lostPins.remove(key)
        index.insert(key, facts)
        accessTimes.published(key, facts.lastUsedAt, in: &index)
        noStoreGrace.note(key, facts.removeAt)
        if isUndisturbed { dirtyNames.remove(key) } else { dirtyNames.insert(key) }
        // A partial that was already whole needed no reservation and is still in the ledger.
        if space.partials[key] != nil {
            space.partials.becameDirty(key)
        } else if leavesNoPartial {
            space.partials.clean(key)
        }
    }

    /// The file of a key is that of an entry, with these facts.
    ///
    /// - Parameter isCurrent: whether they come from a probe of the name that is still true.
    package mutating func confirmed(_ key: CacheKey, _ facts: EntryFacts, isCurrent: Bool) {
        _ = insert(key, facts)
        noStoreGrace.note(key, facts.removeAt)
        if isCurrent { clean(key) } else { becameDirty(key) }
    }

    /// The publication of an image under this key has ended.
    package mutating func publicationEnded(_ key: CacheKey) {
        epochs.note(key)
        space.partials.invalidateProbes(of: key)
    }

    /// Removes an entry from the index. A probe of its name that is running now becomes void.
    mutating func remove(_ key: CacheKey) -> EntryFacts? {
        guard let facts = index.remove(key) else { return nil }
        epochs.note(key)
        return facts
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
    mutating func needsProbeAgain(_ key: CacheKey) { dirtyNames.insert(key) }

    /// The name no longer exists.
    ///
    /// - Returns: whether it had an entry.
    mutating func vanished(_ key: CacheKey) -> Bool {
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
    mutating func changesLost() {
        space.retryAllEvictions()
        lostChanges = true
        losses += 1
        accessTimes.forgetOwnOpens()
        isPartlyRead = !isRead
        validity = .stale
    }

    /// Another directory lies at the path.
    ///
    /// - Parameter budget: the limits that follow from its file system. `nil` if they are not known.
    /// - Returns: whether a scan has to be started.
    package mutating func directoryReplaced(_ budget: Budget?) -> Bool {
        if let budget { space.budget = budget }
        space.directoryReplaced()
        changesLost()
        lostPins = []
        isPartlyRead = true
        return !isScanning
    }

    // MARK: Scans

    package mutating func scanBegan() {
        lostChanges = false
        isScanning = true
        index.scanned = PlaceSet()
        space.partials.allNeedProbe()
    }

    /// Sorts a batch of entries into the order of use. Batches come from the most recently
    /// used to the least recently used. Entries used meanwhile keep their position.
    package mutating func sort(_ stretch: ArraySlice<Use>) {
        for use in stretch { index.makeOldest(use.key, usedAt: use.time) }
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

    /// Takes some of the times of use that have not been written to the files, in no order.
    /// ``AccessTimes/flushed(_:)`` follows.
    package mutating func takeAccessTimes(limit: Int) -> [(key: CacheKey, time: FileTime)] {
        accessTimes.take(limit: limit, from: &index)
    }

    package func checkInvariants() {
        index.checkInvariants()
        space.checkInvariants()
    }
}
