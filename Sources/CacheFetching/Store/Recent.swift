/// The keys, or other values, that were added last.
package struct Recent<Element: Hashable & Sendable>: Sendable {
    private var known: Set<Element> = []
    private var order: [Element] = []
    private var next = 0
    private let capacity: Int

    package init(capacity: Int) { self.capacity = capacity }

    package func contains(_ key: Element) -> Bool { known.contains(key) }

    package mutating func insert(_ key: Element) {
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
    package mutating func remove(_ key: Element) { known.remove(key) }
}
