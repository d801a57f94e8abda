internal import CacheKey

/// Partials no download is writing to, and the bytes the disk holds for each.
struct Partials {
    private var allocated: [CacheKey: Int64] = [:]
    /// Bytes of all of them.
    private(set) var total: Int64 = 0
    /// Names that something happened to, or that are known by estimate only: to be looked at.
    var dirtyNames: Set<CacheKey> = []
    /// Of partials alone: others' writing to one is nothing that happens to the entry.
    var epochs = ChangeEpochs()

    var count: Int { allocated.count }

    var keys: some Collection<CacheKey> { allocated.keys }

    /// What is held for a key; `nil` when there is no partial.
    subscript(key: CacheKey) -> Int64? {
        get { allocated[key] }
        set {
            epochs.note(key)
            total += (newValue ?? 0) - (allocated[key] ?? 0)
            allocated[key] = newValue
        }
    }

    /// Something happened to a name: it is to be looked at, and what was seen before counts no more.
    mutating func doubt(_ key: CacheKey) {
        epochs.note(key)
        dirtyNames.insert(key)
    }

    /// Whether a partial may lie under the name of a key.
    func mayHold(_ key: CacheKey) -> Bool {
        allocated[key] != nil || dirtyNames.contains(key)
    }

    func checkInvariants() {
        precondition(total == allocated.values.reduce(0, +), "\(total) bytes of partials are wrong")
    }
}
