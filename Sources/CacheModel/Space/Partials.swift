package import CacheKey

/// Partials that no download is writing to, and the bytes the disk holds for each.
package struct Partials: Sendable {
    private var allocated: [CacheKey: Int64] = [:]
    /// Bytes of all of them.
    package private(set) var total: Int64 = 0
    /// Names that changed, or whose bytes are an estimate, and that have to be probed.
    package private(set) var dirtyNames: Set<CacheKey> = []
    /// Of partials alone: somebody's writing to one does not concern the entry.
    private var epochs = ChangeEpochs()

    package var count: Int { allocated.count }

    package var keys: some Collection<CacheKey> { allocated.keys }

    /// Bytes held for a key; `nil` if there is no partial.
    package subscript(key: CacheKey) -> Int64? {
        get { allocated[key] }
        set {
            epochs.note(key)
            total += (newValue ?? 0) - (allocated[key] ?? 0)
            allocated[key] = newValue
        }
    }

    /// Whether a partial may lie under the name of a key.
    package func mayHold(_ key: CacheKey) -> Bool {
        allocated[key] != nil || dirtyNames.contains(key)
    }

    /// Something happened to the name: it has to be probed, and running probes of it are void.
    package mutating func becameDirty(_ key: CacheKey) {
        epochs.note(key)
        dirtyNames.insert(key)
    }

    /// The name has to be probed; running probes of it stay good.
    package mutating func needsProbe(_ key: CacheKey) { dirtyNames.insert(key) }

    /// All names have to be probed, by the scan that begins.
    package mutating func allNeedProbe() { dirtyNames.formUnion(allocated.keys) }

    /// It is certain what lies under the name.
    package mutating func clean(_ key: CacheKey) { dirtyNames.remove(key) }

    // MARK: Probes

    package mutating func beginProbe() -> ChangeEpochs.Start { epochs.begin() }

    package mutating func endProbe() { epochs.end() }

    package func isCurrent(_ key: CacheKey, since start: ChangeEpochs.Start) -> Bool {
        epochs.isCurrent(key, since: start)
    }

    /// Running probes of the name are void.
    package mutating func touched(_ key: CacheKey) { epochs.note(key) }

    package func checkInvariants() {
        precondition(total == allocated.values.reduce(0, +), "the bytes of partials are \(total)")
    }
}
