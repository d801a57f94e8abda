package import CacheKey
import CacheValues

/// Files, of which each can have several names and is counted once.
///
/// Chains run through the entries. They hold an entry of each file, by the digest of its bytes, and find files
/// with equal bytes. Only the entries whose files have several links are kept by file too: that finds the names
/// of a file.
extension Index {
    // MARK: Finding

    /// At most `limit` entries, each of another file, whose bytes have a digest that begins like this one. Only their
    /// files have the whole digest.
    ///
    /// - Parameter size: bytes of the image. `nil` for any number.
    package func keys(
        digestPrefix prefix: UInt32, size: Int64? = nil, limit: Int = .max
    ) -> [CacheKey] {
        var keys: [CacheKey] = []
        var place = prefix == 0 ? Self.none : chains[prefix]
        while place != Self.none, keys.count < limit {
            let entry = self[place]
            if entry.digestPrefix == prefix, size == nil || entry.size == size {
                keys.append(entry.key)
            }
            place = entry.nextAlike
        }
        return keys
    }

    /// The entries of files that may have the same bytes as an image, the latest file first. At most two: a file
    /// that cannot have another name is usually the older one.
    ///
    /// - Parameter key: the image, whose own entry is not meant. Another name of the same file is.
    package func originals(of prefix: UInt32, size: Int64, for key: CacheKey) -> [CacheKey] {
        keys(digestPrefix: prefix, size: size, limit: 2).compactMap { other in
            other == key ? names(of: key).first { $0 != key } : other
        }
    }

    /// The keys of all names of the file of an entry, its own included.
    package func names(of key: CacheKey) -> [CacheKey] {
        guard let place = place(of: key) else { return [] }
        return names(of: place).map { self[$0].key }
    }

    /// Whether another entry seems to have equal bytes: under another name of its file, or in another file.
    package func hasCopy(_ key: CacheKey) -> Bool {
        guard let place = place(of: key) else { return false }
        let entry = self[place]
        return names(of: place).count > 1
            || keys(digestPrefix: entry.digestPrefix, size: entry.size, limit: 2).count > 1
    }

    /// Another name of the file of an entry that is perhaps not in the index any more.
    func sibling(of facts: EntryFacts, except key: CacheKey) -> CacheKey? {
        let entry = Entry(key, facts)
        return entry.isLinked
            ? firstLinked(entry) { self[$0].key != key }.map { self[$0].key } : nil
    }

    /// Bytes that the disk would hold no longer if the entry's name went away.
    func bytesFreed(byRemoving key: CacheKey) -> Int64 {
        guard let place = place(of: key) else { return 0 }
        let entry = self[place]
        return entry.isLinked && names(of: place).count > 1 ? 0 : entry.allocated
    }

    /// The places of all names of the file of an entry, its own included.
    private func names(of place: UInt32) -> [UInt32] {
        let entry = self[place]
        guard entry.isLinked else { return [place] }
        return linkedPlaces[entry.file, default: []].filter { self[$0].isSameFile(as: entry) }
    }

    private func firstLinked(_ entry: Entry, where isWanted: (UInt32) -> Bool) -> UInt32? {
        linkedPlaces[entry.file]?.first { self[$0].isSameFile(as: entry) && isWanted($0) }
    }

    /// The last use of the file of an entry, under any of its names. Its access time is that.
    func lastUse(ofFileAt place: UInt32) -> Int64 {
        let own = self[place].lastUsedAt
        return self[place].isLinked
            ? names(of: place).reduce(own) { max($0, self[$1].lastUsedAt) } : own
    }

    // MARK: Counting

    /// Runs a change of an entry, or of another name of its file, and keeps the totals right.
    mutating func changing(_ place: UInt32, _ change: (inout Index) -> Void) {
        totals = totals + -share(of: place)
        change(&self)
        totals = totals + share(of: place)
    }

    /// The part of the totals that the file of an entry has.
    private func share(of place: UInt32) -> FileTotals {
        let entry = self[place]
        guard entry.isLinked else {
            let bytes = entry.allocated
            if entry.isPinned {
                return FileTotals(allocated: bytes, pinned: Removal(entries: 1, bytes: bytes))
            }
            return FileTotals(allocated: bytes, used: entry.usageClass == .used ? bytes : 0)
        }
        return share(of: names(of: place))
    }

    private func share(of names: [UInt32]) -> FileTotals {
        guard let first = names.first else { return FileTotals() }
        let bytes = self[first].allocated
        let pins = names.count { self[$0].isPinned }
        let isUsed = pins == 0 && names.contains { self[$0].usageClass == .used }
        let others = names.count - 1
        return FileTotals(
            allocated: bytes, pinned: Removal(entries: pins, bytes: pins > 0 ? bytes : 0),
            used: isUsed ? bytes : 0,
            duplicates: Removal(entries: others, bytes: Int64(others) * bytes))
    }

    /// Counts the file of a new entry, unless another name of it is counted already.
    mutating func attach(_ place: UInt32) {
        let entry = self[place]
        guard entry.isLinked, let other = otherName(of: place) else {
            self[place].isCounted = true
            enchain(place)
            if entry.isLinked { linkName(place) }
            totals = totals + share(of: place)
            return
        }
        totals = totals + -share(of: other)
        if !self[other].isLinked {
            self[other].isLinked = true
            linkName(other)
        }
        linkName(place)
        // The newest facts have the blocks of the file.
        let names = names(of: place)
        for name in names { self[name].blocks = entry.blocks }
        totals = totals + share(of: names)
    }

    /// Another entry of the same file. It can be one that had a single link when its name was probed last.
    private mutating func otherName(of place: UInt32) -> UInt32? {
        let entry = self[place]
        if let linked = firstLinked(entry, where: { $0 != place }) { return linked }
        var next = chains[hash(entry)]
        while next != Self.none {
            if self[next].isSameFile(as: entry) { return next }
            next = self[next].nextAlike
        }
        return nil
    }

    /// Stops counting the file of an entry that goes away, unless it has another name.
    mutating func detach(_ place: UInt32) {
        guard self[place].isLinked else {
            totals = totals + -share(of: place)
            unchain(place)
            self[place].isCounted = false
            return
        }
        let names = names(of: place)
        totals = totals + -share(of: names)
        unlinkName(place)
        let others = names.filter { $0 != place }
        if self[place].isCounted {
            unchain(place)
            self[place].isCounted = false
            if let heir = others.first {
                self[heir].isCounted = true
                enchain(heir)
            }
        }
        totals = totals + share(of: others)
    }

    // MARK: Names by file

    private mutating func linkName(_ place: UInt32) {
        linkedPlaces[self[place].file, default: []].append(place)
    }

    private mutating func unlinkName(_ place: UInt32) {
        let file = self[place].file
        linkedPlaces[file]?.removeAll { $0 == place }
        if linkedPlaces[file]?.isEmpty == true { linkedPlaces[file] = nil }
    }

    // MARK: Chains by digest

    private func hash(_ entry: Entry) -> UInt32 {
        entry.digestPrefix != 0 ? entry.digestPrefix : entry.file
    }

    /// An entry of which neither the digest nor the file is known is in no chain.
    private mutating func enchain(_ place: UInt32) {
        let hash = hash(self[place])
        guard hash != 0 else { return }
        if chains.isFull { growChains() }
        self[place].nextAlike = chains[hash]
        chains[hash] = place
        chains.added()
    }

    private mutating func unchain(_ place: UInt32) {
        let after = self[place].nextAlike
        guard after != Self.unchained else { return }
        let hash = hash(self[place])
        if chains[hash] == place {
            chains[hash] = after
        } else {
            var before = chains[hash]
            while self[before].nextAlike != place { before = self[before].nextAlike }
            self[before].nextAlike = after
        }
        self[place].nextAlike = Self.unchained
        chains.removed()
    }

    private mutating func growChains() {
        var members: [UInt32] = []
        forEachPlace { if self[$0].nextAlike != Self.unchained { members.append($0) } }
        chains.grow()
        for place in members { enchain(place) }
    }

    // MARK: Invariants

    func checkFiles() {
        var files: [[UInt32]: [UInt32]] = [:]
        var single: [UInt32] = []
        var counted = 0
        forEachPlace { place in
            let entry = self[place]
            counted += entry.isCounted && hash(entry) != 0 ? 1 : 0
            if entry.isLinked {
                let size = UInt32(truncatingIfNeeded: entry.size)
                files[[entry.file, entry.digestPrefix, size], default: []].append(place)
            } else {
                single.append(place)
            }
        }
        var sum = FileTotals()
        for place in single {
            precondition(self[place].isCounted, "a file with one name is not counted")
            sum = sum + share(of: place)
        }
        for names in files.values {
            precondition(
                names.count { self[$0].isCounted } == 1, "a file is not counted exactly once")
            precondition(
                Set(self.names(of: names[0])) == Set(names), "the names of a file are not chained")
            sum = sum + share(of: names)
        }
        precondition(sum == totals, "\(totals) counted, \(sum) found")
        precondition(counted == chains.count, "the chains by digest miss an entry")
        forEachPlace { place in
            precondition(
                (self[place].nextAlike != Self.unchained)
                    == (self[place].isCounted && hash(self[place]) != 0),
                "an entry is in the wrong chain")
        }
        precondition(
            linkedPlaces.values.reduce(0) { $0 + $1.count }
                == files.values.reduce(0) { $0 + $1.count },
            "an entry is kept by file that has no other names")
    }
}
