package import CacheKey
package import CacheValues

/// The order of use, a list for each usage class. All are sorted by the last use, so together they are one order too.
extension Index {
    // MARK: Using

    /// Makes an entry the most recently used. `false` if there is no entry.
    package mutating func touch(_ key: CacheKey, at time: FileTime) -> Bool {
        guard let place = place(of: key) else { return false }
        touched.insert(place)
        unlink(place)
        setLastUse(place, time)
        linkNewest(place)
        return true
    }

    /// The number of entries whose files do not have the time of their last use yet.
    package var touchedCount: Int { touched.count }

    /// Takes the last times of use of at most `limit` entries, to be written to their files.
    mutating func takeTouches(limit: Int) -> [(key: CacheKey, time: FileTime)] {
        var taken: [(key: CacheKey, time: FileTime)] = []
        while taken.count < limit, let place = touched.popNext() {
            // The names of one file share its access time. It is that of the latest use.
            taken.append((self[place].key, FileTime(nanoseconds: lastUse(ofFileAt: place))))
        }
        return taken
    }

    /// Makes an entry the least recently used of its class. A scan calls this from the most recently
    /// used entry to the least recently used one. An entry that was used after the time in its file
    /// keeps its position.
    mutating func makeOldest(_ key: CacheKey, usedAt time: FileTime) {
        guard let place = place(of: key), self[place].lastUsedAt <= time.nanoseconds else { return }
        unlink(place)
        setLastUse(place, time)
        linkOldest(place)
    }

    /// A scan has found an entry. If another program used its file while nobody watched, only the access time says so.
    mutating func found(_ key: CacheKey, usedAt time: FileTime) {
        guard let place = place(of: key) else { return }
        scanned.insert(place)
        guard self[place].lastUsedAt < time.nanoseconds else { return }
        unlink(place)
        setLastUse(place, time)
        linkNewest(place)
    }

    /// Records the last use of an entry that is in no list.
    private mutating func setLastUse(_ place: UInt32, _ time: FileTime) {
        var entry = self[place]
        entry.lastUsedAt = time.nanoseconds
        if entry.usageClass == self[place].usageClass {
            self[place].lastUsedAt = time.nanoseconds
        } else {
            changing(place) { $0[place].lastUsedAt = time.nanoseconds }
        }
    }

    // MARK: The lists

    mutating func linkNewest(_ place: UInt32) {
        link(place, behind: orders[self[place].usageClass.rawValue].newest)
    }

    mutating func linkOldest(_ place: UInt32) {
        link(place, behind: Self.none)
    }

    /// Links an entry at the position that its last use has in its class.
    mutating func linkByTime(_ place: UInt32) {
        link(place, behind: lastUsed(before: place, in: self[place].usageClass))
    }

    /// Links an entry as the next more recently used after `older`, or as the oldest if `older` is
    /// `none`.
    private mutating func link(_ place: UInt32, behind older: UInt32) {
        let usageClass = self[place].usageClass.rawValue
        let newer = older == Self.none ? orders[usageClass].oldest : self[older].newer
        orders[usageClass].inversions +=
            inversion(of: older, and: place) + inversion(of: place, and: newer)
            - inversion(of: older, and: newer)
        self[place].older = older
        self[place].newer = newer
        if older != Self.none {
            self[older].newer = place
        } else {
            orders[usageClass].oldest = place
        }
        if newer != Self.none {
            self[newer].older = place
        } else {
            orders[usageClass].newest = place
        }
    }

    mutating func unlink(_ place: UInt32) {
        let entry = self[place]
        let usageClass = entry.usageClass.rawValue
        orders[usageClass].inversions +=
            inversion(of: entry.older, and: entry.newer)
            - inversion(of: entry.older, and: place) - inversion(of: place, and: entry.newer)
        if entry.older != Self.none {
            self[entry.older].newer = entry.newer
        } else {
            orders[usageClass].oldest = entry.newer
        }
        if entry.newer != Self.none {
            self[entry.newer].older = entry.older
        } else {
            orders[usageClass].newest = entry.older
        }
    }

    /// 1 if the older neighbour was not used before the newer one. 0 otherwise, and if either is `none`.
    private func inversion(of older: UInt32, and newer: UInt32) -> Int {
        guard older != Self.none, newer != Self.none else { return 0 }
        return wasUsed(older, before: newer) ? 0 : 1
    }

    func wasUsed(_ place: UInt32, before other: UInt32) -> Bool {
        (self[place].lastUsedAt, self[place].key) < (self[other].lastUsedAt, self[other].key)
    }

    /// The most recently used entry of a class that was used before another entry, or `none`.
    ///
    /// The search begins at the best of about a thousand samples, so in a million entries it takes
    /// about as many steps: Chazelle, Liu and Magen, Sublinear geometric algorithms, 2005.
    private func lastUsed(before place: UInt32, in usageClass: UsageClass) -> UInt32 {
        var best = Self.none
        let stride = max(1, Int(placesUsed) >> 10)
        for sample in Swift.stride(from: 0, to: placesUsed, by: stride)
        where sample != place && self[sample].isOccupied && self[sample].usageClass == usageClass
            && wasUsed(sample, before: place)
            && (best == Self.none || wasUsed(best, before: sample))
        {
            best = sample
        }
        var next = best == Self.none ? orders[usageClass.rawValue].oldest : self[best].newer
        while next != Self.none, wasUsed(next, before: place) {
            (best, next) = (next, self[next].newer)
        }
        return best
    }
}

// MARK: Listing

extension Index {
    /// Whether the lists agree with the times of use and, for equal times, with the keys. They do
    /// not agree while a scan runs, or if a file has a time in the future.
    package var isInOrderOfTime: Bool { orders.allSatisfy { $0.inversions == 0 } }

    /// At most `limit` entries after the entry `cursor`, in the order of use. The most recently
    /// used entry comes first or, if `isReversed`, last.
    package func inOrderOfUse(
        isReversed: Bool = false, after cursor: CacheKey? = nil, limit: Int = .max
    ) -> [ListedEntry] {
        let start = cursor.map { place(of: $0) ?? Self.none }
        guard start != Self.none else { return [] }
        // The next entry of each class.
        var heads = UsageClass.allCases.map { head(of: $0, isReversed, after: start) }
        var entries: [ListedEntry] = []
        while entries.count < limit {
            var next: Int?
            for usageClass in heads.indices where heads[usageClass] != Self.none {
                if let first = next, wasUsed(heads[first], before: heads[usageClass]) == isReversed
                {
                    continue
                }
                next = usageClass
            }
            guard let usageClass = next else { break }
            let place = heads[usageClass]
            entries.append(ListedEntry(key: self[place].key, facts: facts(at: place)))
            heads[usageClass] = isReversed ? self[place].newer : self[place].older
        }
        return entries
    }

    /// The first entry of a class or, with a cursor, the first after it.
    private func head(of usageClass: UsageClass, _ isReversed: Bool, after cursor: UInt32?)
        -> UInt32
    {
        let order = orders[usageClass.rawValue]
        guard let cursor else { return isReversed ? order.oldest : order.newest }
        if self[cursor].usageClass == usageClass {
            return isReversed ? self[cursor].newer : self[cursor].older
        }
        let older = lastUsed(before: cursor, in: usageClass)
        guard isReversed else { return older }
        return older == Self.none ? order.oldest : self[older].newer
    }
}
