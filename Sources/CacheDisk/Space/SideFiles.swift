package import CacheKey

/// The partials that no download is writing to, and the bytes that the disk holds for each.
package struct SideFiles: Sendable {
    private var allocated: [CacheKey: Int64] = [:]
    /// Bytes of all of them together.
    package private(set) var total: Int64 = 0
    /// Names that have to be probed, because they changed or their bytes are an estimate.
    package private(set) var dirtyNames: Set<CacheKey> = []
    /// Changes of partials only: a program that writes to one does not affect the entry.
    private var epochs = ChangeEpochs()

    package var count: Int { allocated.count }

    package var keys: some Collection<CacheKey> { allocated.keys }

    /// Bytes held for a key. `nil` if there is no partial.
    package subscript(key: CacheKey) -> Int64? {
        get { allocated[key] }
        set {
            epochs.note(key)
            total += (newValue ?? 0) - (allocated[key] ?? 0)
            allocated[key] = newValue
        }
    }

    /// Whether there may be a partial for a key.
    package func mayHold(_ key: CacheKey) -> Bool {
        allocated[key] != nil || dirtyNames.contains(key)
    }

    /// The name changed, so it has to be probed again, and running probes of it are void.
    package mutating func becameDirty(_ key: CacheKey) {
        epochs.note(key)
        dirtyNames.insert(key)
    }

    /// The name has to be probed, but running probes of it stay valid.
    package mutating func needsProbe(_ key: CacheKey) { dirtyNames.insert(key) }

    /// A scan begins, so each known partial has to be probed.
    mutating func allNeedProbe() { dirtyNames.formUnion(allocated.keys) }

    /// The name needs no probe: it is certain whether there is a partial.
    mutating func clean(_ key: CacheKey) { dirtyNames.remove(key) }

    // MARK: Probes

    package mutating func beginProbe() -> ChangeEpochs.Start { epochs.begin() }

    package mutating func endProbe() { epochs.end() }

    package func isCurrent(_ key: CacheKey, since start: ChangeEpochs.Start) -> Bool {
        epochs.isCurrent(key, since: start)
    }

    /// The name changed, so running probes of it are void.
    package mutating func invalidateProbes(of key: CacheKey) { epochs.note(key) }

    package func checkInvariants() {
        precondition(
            total == allocated.values.reduce(0, +),
            "the total of the partials, \(total), is wrong")
    }
}
