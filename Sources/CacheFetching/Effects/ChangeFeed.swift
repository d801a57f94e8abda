package import CacheKey

/// The keys that changed since the observer last asked. Empty, and free of cost, while there is no
/// observer.
package struct ChangeFeed: Sendable {
    package var isObserved = false {
        didSet { if !isObserved { _ = take() } }
    }
    package private(set) var keys: Set<CacheKey> = []
    /// The keys whose downloads have ended since.
    private var ends: Set<CacheKey> = []

    /// Records a change. Returns whether the observer has to be woken for it.
    package mutating func note(_ key: CacheKey) -> Bool {
        guard isObserved else { return false }
        return keys.insert(key).inserted && keys.count == 1
    }

    /// Records that the change of a key is the end of its download. Returns whether the observer has to be woken for it.
    package mutating func noteEnd(_ key: CacheKey) -> Bool {
        guard isObserved else { return false }
        return ends.insert(key).inserted && ends.count == 1
    }

    package mutating func take() -> Set<CacheKey> {
        defer { (keys, ends) = ([], []) }
        return keys
    }

    /// The changed keys whose downloads have ended.
    package mutating func takeEnds() -> Set<CacheKey> {
        defer { ends = [] }
        let taken = ends.intersection(keys)
        keys.subtract(taken)
        return taken
    }

    /// The observer gets the state of this key now, which includes its latest change.
    package mutating func take(_ key: CacheKey) {
        keys.remove(key)
        ends.remove(key)
    }
}
