package import CacheKey
package import CacheValues

/// How far a search for victims has come in each part. It is valid as long as only its own victims leave the index.
package struct VictimPosition: Sendable {
    struct Part {
        /// The last entry that was spared, as all those before it are.
        var spared = Index.none
        /// The number of spared entries that can still be skipped.
        var steps = 16 * 1024
    }

    var unused = Part()
    var used = Part()

    package init() {}

    /// Whether the search of a part had to end before the part did.
    var isSpent: Bool { unused.steps == 0 || used.steps == 0 }
}

/// The search for the entries to evict.
extension Index {
    /// The entry to evict next: the least recently used one that was never used. It is the least
    /// recently used of all instead, if the used ones hold more than nine tenths of the bytes, or if
    /// the entry that was never used is so new that it may still be used. Pins hold bytes of neither
    /// part.
    ///
    /// `nil` if there is none, or if too many are spared.
    ///
    /// - Parameters:
    ///   - position: how far the search has come; a part whose steps are spent has no victims.
    ///   - limit: an entry that was fetched at this time or later, and all those used after it in
    ///     its part, are no victims.
    ///   - isSpared: whether an entry cannot be evicted now. Few of the least recently used entries are: the request
    ///     that downloads an entry again is a use of it.
    package func nextVictim(
        _ position: inout VictimPosition, fetchedBefore limit: UnixTime? = nil,
        unless isSpared: (CacheKey) -> Bool
    ) -> CacheKey? {
        let unused = oldest(of: .unused, before: limit, &position.unused, isSpared)
        if let unused, !isUsedPartFull, !isNew(unused) { return self[unused].key }
        let used = oldest(of: .used, before: limit, &position.used, isSpared)
        guard let unused, let used else { return (unused ?? used).map { self[$0].key } }
        return self[wasUsed(unused, before: used) ? unused : used].key
    }

    private var isUsedPartFull: Bool {
        totals.used * 10 > (totals.allocated - totals.pinned.bytes) * 9
    }

    /// Whether an entry is so new that no use of it can have counted: the latest use of any entry was
    /// in its first seconds, or before.
    private func isNew(_ place: UInt32) -> Bool {
        orders.allSatisfy {
            $0.newest == Self.none || !self[place].counts(useAt: self[$0.newest].lastUsedAt)
        }
    }

    /// The least recently used entry of a class that is not spared.
    private func oldest(
        of usageClass: UsageClass, before limit: UnixTime?,
        _ part: inout VictimPosition.Part, _ isSpared: (CacheKey) -> Bool
    ) -> UInt32? {
        var place =
            part.spared == Self.none
            ? orders[usageClass.rawValue].oldest : self[part.spared].newer
        while place != Self.none, part.steps > 0, isSpared(self[place].key) {
            (part.spared, place) = (place, self[place].newer)
            part.steps -= 1
        }
        guard place != Self.none, part.steps > 0 else { return nil }
        if let limit, self[place].fetchedAt >= limit.rawValue { return nil }
        return place
    }

    // MARK: Invariants

    /// Checks the list of a class; returns the number of its entries.
    func checkOrder(of usageClass: UsageClass) -> Int {
        let order = orders[usageClass.rawValue]
        var place = order.oldest
        var seen = 0
        var previous = Self.none
        var inversions = 0
        while place != Self.none {
            let entry = self[place]
            precondition(entry.usageClass == usageClass, "an entry is in the wrong usageClass")
            precondition(entry.older == previous, "the order of use is broken at \(place)")
            precondition(self.place(of: entry.key) == place, "an entry is not found by its key")
            if previous != Self.none, !wasUsed(previous, before: place) { inversions += 1 }
            seen += 1
            previous = place
            place = entry.newer
        }
        precondition(previous == order.newest, "the newest entry is not at the end of the list")
        precondition(inversions == order.inversions, "inversions are miscounted")
        return seen
    }
}
