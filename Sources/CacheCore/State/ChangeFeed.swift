internal import CacheKey

/// Which keys changed since the observer last asked. Empty and free while nobody observes.
struct ChangeFeed {
    var isObserved = false {
        didSet { if !isObserved { keys = [] } }
    }
    private(set) var keys: Set<CacheKey> = []

    /// Notes a change; whether the observer has to be woken for it.
    mutating func note(_ key: CacheKey) -> Bool {
        guard isObserved else { return false }
        return keys.insert(key).inserted && keys.count == 1
    }

    mutating func take() -> Set<CacheKey> {
        defer { keys = [] }
        return keys
    }

    /// What is told of a key now includes its latest change.
    mutating func take(_ key: CacheKey) {
        keys.remove(key)
    }
}
