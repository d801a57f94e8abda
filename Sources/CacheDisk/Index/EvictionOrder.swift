import CacheKey
package import CacheValues

/// The order in which entries would be evicted if none was used, added or removed meanwhile. It makes the choice of
/// ``Index/nextVictim(_:fetchedBefore:unless:)`` again and again, on copies, so that nobody waits for it.
package struct EvictionOrder: Sendable {
    private let limit: Int
    /// The first entries of each class, the least recently used first once they are ``sort()``ed.
    private var classes: [[ListedEntry]] = UsageClass.allCases.map { _ in [] }
    private var newest = Int64.min
    private var used: Int64
    private var unpinned: Int64

    /// - Parameter limit: the number of entries that are wanted.
    package init(limit: Int, totals: FileTotals) {
        self.limit = limit
        (used, unpinned) = (totals.used, totals.allocated - totals.pinned.bytes)
    }

    /// Adds an entry. All have to be added, in any order.
    package mutating func add(_ entry: ListedEntry) {
        newest = max(newest, entry.facts.lastUsedAt.nanoseconds)
        let place = Entry(entry.key, entry.facts).usageClass.rawValue
        classes[place].append(entry)
        // Sorting after each entry would take a time that grows with the square of the limit.
        if classes[place].count / 2 >= max(limit, 1024) { sort(place) }
    }

    private mutating func sort(_ place: Int) {
        classes[place].sort {
            ($0.facts.lastUsedAt.nanoseconds, $0.key) < ($1.facts.lastUsedAt.nanoseconds, $1.key)
        }
        classes[place].removeLast(max(classes[place].count - limit, 0))
    }

    /// The first entries, each with its class.
    package mutating func entries() -> [(entry: ListedEntry, usageClass: UsageClass)] {
        for place in classes.indices { sort(place) }
        var heads = classes.map { $0[...] }
        var order: [(ListedEntry, UsageClass)] = []
        while order.count < limit, let usageClass = next(heads) {
            guard let entry = heads[usageClass.rawValue].popFirst() else { break }
            if usageClass == .used { used -= entry.facts.allocated }
            if usageClass != .pinned { unpinned -= entry.facts.allocated }
            order.append((entry, usageClass))
        }
        return order
    }

    private func next(_ heads: [ArraySlice<ListedEntry>]) -> UsageClass? {
        func head(_ usageClass: UsageClass) -> ListedEntry? { heads[usageClass.rawValue].first }
        guard let unused = head(.unused) else {
            return head(.used) != nil ? .used : head(.pinned) != nil ? .pinned : nil
        }
        guard let used = head(.used) else { return .unused }
        let isUsedPartFull = self.used * 10 > unpinned * 9
        let isNew = !Entry(unused.key, unused.facts).counts(useAt: newest)
        if !isUsedPartFull, !isNew { return .unused }
        let isOlder =
            (unused.facts.lastUsedAt.nanoseconds, unused.key)
            < (used.facts.lastUsedAt.nanoseconds, used.key)
        return isOlder ? .unused : .used
    }
}
