package import CacheKey

/// The keys that were added last.
package struct RecentKeys: Sendable {
    private var known: Set<CacheKey> = []
    private var order: [CacheKey] = []
    private var next = 0
    private let capacity: Int

    package init(capacity: Int) { self.capacity = capacity }

    package func contains(_ key: CacheKey) -> Bool { known.contains(key) }

    package mutating func insert(_ key: CacheKey) {
        guard known.insert(key).inserted else { return }
        if order.count < capacity {
            order.append(key)
        } else {
            known.remove(order[next])
            order[next] = key
            next = (next + 1) % capacity
        }
    }

    /// Forgets a key. Its place stays taken until its turn.
    package mutating func remove(_ key: CacheKey) { known.remove(key) }
}
