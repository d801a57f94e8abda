package import CacheKey

/// The keys that changed since the observer last asked. Empty, and free of cost, while there is no
/// observer.
package struct ChangeFeed: Sendable {
    package var isObserved = false {
        didSet { if !isObserved { keys = [] } }
    }
    package private(set) var keys: Set<CacheKey> = []

    /// Records a change. Returns whether the observer has to be woken for it.
    package mutating func note(_ key: CacheKey) -> Bool {
        guard isObserved else { return false }
        return keys.insert(key).inserted && keys.count == 1
    }

    package mutating func take() -> Set<CacheKey> {
        defer { keys = [] }
        return keys
    }

    /// The observer gets the state of this key now, which includes its latest change.
    package mutating func take(_ key: CacheKey) { keys.remove(key) }
}
