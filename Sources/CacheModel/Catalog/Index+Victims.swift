package import CacheKey
package import CacheValues

/// The search for the entries to evict.
extension Index {
    /// The entry to evict next: the least recently used one that was never used. It is the least
    /// recently used of all instead, if the used ones hold more than four fifths of the bytes, or if
    /// the entry that was never used is so new that it may still be used. Pins hold bytes of neither
    /// part.
    ///
    /// `nil` if there is none, or if `steps` reached 0. A search does not look again at entries that
    /// it has skipped, so call ``maybeUnspared(_:)`` for an entry when a reason to spare it ends.
    ///
    /// - Parameters:
    ///   - steps: the number of pinned or spared entries that can still be skipped. When it reaches
    ///     0 the search stops, and the next search continues there.
    ///   - limit: an entry that was fetched at this time or later, and all those used after it in
    ///     its part, are no victims.
    package mutating func nextVictim(
        steps: inout Int, fetchedBefore limit: UnixTime? = nil, unless isSpared: (CacheKey) -> Bool
    ) -> CacheKey? {
        let unused = oldest(of: .unused, before: limit, &steps, isSpared)
        guard steps > 0 else { return nil }
        if let unused, !isUsedPartFull, !isNew(unused) { return self[unused].key }
        let used = oldest(of: .used, before: limit, &steps, isSpared)
        guard steps > 0 else { return nil }
        guard let unused, let used else { return (unused ?? used).map { self[$0].key } }
        return self[wasUsed(unused, before: used) ? unused : used].key
    }

    private var isUsedPartFull: Bool {
        totals.used * 5 > (totals.allocated - totals.pinned.bytes) * 4
    }

    /// Whether an entry is so new that no use of it can have counted: the latest use of any entry was
    /// in its first seconds, or before.
    private func isNew(_ place: UInt32) -> Bool {
        orders.allSatisfy {
            $0.newest == Self.none || !self[place].counts(useAt: self[$0.newest].lastUsedAt)
        }
    }

    private mutating func oldest(
        of part: Part, before limit: UnixTime?, _ steps: inout Int, _ isSpared: (CacheKey) -> Bool
    ) -> UInt32? {
        guard let place = oldest(of: part, &steps, isSpared) else { return nil }
        if let limit, self[place].fetchedAt >= limit.rawValue { return nil }
        return place
    }

    /// The least recently used entry of a part that is neither pinned nor spared.
    private mutating func oldest(
        of part: Part, _ steps: inout Int, _ isSpared: (CacheKey) -> Bool
    ) -> UInt32? {
        let part = part.rawValue
        while steps > 0, let place = orders[part].passed.firstReturned {
            let entry = self[place]
            if !entry.isPinned, !isSpared(entry.key) { return place }
            orders[part].passed.firstReturnedStays()
            steps -= 1
        }
        let last = orders[part].lastPassed
        var place = last == Self.none ? orders[part].oldest : self[last].newer
        while steps > 0, place != Self.none {
            let entry = self[place]
            if !entry.isPinned, !isSpared(entry.key) { return place }
            orders[part].passed.pass(place)
            orders[part].lastPassed = place
            place = entry.newer
            steps -= 1
        }
        return nil
    }

    /// One reason to spare an entry has ended. The entry may still be spared for another reason.
    package mutating func maybeUnspared(_ key: CacheKey) {
        if let place = place(of: key) { maybeUnspared(place) }
    }

    mutating func maybeUnspared(_ place: UInt32) {
        orders[self[place].part.rawValue].passed.returns(place)
    }

    /// The next search for victims begins at the oldest entries, because any entry is perhaps no
    /// longer spared.
    package mutating func restartEviction() {
        for part in orders.indices { orders[part].restartSearch() }
    }

    // MARK: Invariants

    /// Checks the list of a part; returns the number of its entries.
    func checkOrder(of part: Part, isSpared: (CacheKey) -> Bool) -> Int {
        let order = orders[part.rawValue]
        var place = order.oldest
        var seen = 0
        var isPassed = order.lastPassed != Self.none
        var lastNumber: UInt64 = 0
        var previous = Self.none
        var inversions = 0
        while place != Self.none {
            let entry = self[place]
            precondition(entry.part == part, "an entry is in the wrong part")
            precondition(entry.older == previous, "the order of use is broken at \(place)")
            precondition(self.place(of: entry.key) == place, "an entry is not found by its key")
            if previous != Self.none, !wasUsed(previous, before: place) { inversions += 1 }
            seen += 1
            let note = order.passed.note(of: place)
            precondition(isPassed == (note != nil), "the cursor is wrong about \(place)")
            if let note {
                precondition(note.number > lastNumber, "the cursor is out of order at \(place)")
                precondition(
                    note.isReturned || entry.isPinned || isSpared(entry.key),
                    "a search would miss the victim at \(place)")
                lastNumber = note.number
            }
            isPassed = isPassed && place != order.lastPassed
            previous = place
            place = entry.newer
        }
        precondition(previous == order.newest, "the newest entry is not at the end of the list")
        precondition(inversions == order.inversions, "inversions are miscounted")
        return seen
    }
}
