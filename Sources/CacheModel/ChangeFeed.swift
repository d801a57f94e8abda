package import CacheKey

/// The keys that changed since the observer last asked. Empty and free of cost while nobody observes.
package struct ChangeFeed: Sendable {
    package var isObserved = false {
        didSet { if !isObserved { keys = [] } }
    }
    package private(set) var keys: Set<CacheKey> = []

    /// Notes a change; whether the observer has to be woken for it.
    package mutating func note(_ key: CacheKey) -> Bool {
        guard isObserved else { return false }
        return keys.insert(key).inserted && keys.count == 1
    }

    package mutating func take() -> Set<CacheKey> {
        defer { keys = [] }
        return keys
    }

    /// The observer is told of this key now, its latest change included.
    package mutating func take(_ key: CacheKey) { keys.remove(key) }
}
