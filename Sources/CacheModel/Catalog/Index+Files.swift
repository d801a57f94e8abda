package import CacheKey

/// Files, of which each can have several names and is counted once.
///
/// Two chains run through the entries. One holds an entry of each file, by the digest of its bytes:
/// it finds files with equal bytes. The other holds the entries whose files have several links, by
/// the file: it finds the names of one file. An entry whose file has one link is not in it.
extension Index {
    enum Chain {
        case alike
        case linked
    }

    // MARK: Finding

    /// At most `limit` entries, each of another file, whose bytes have a digest that begins like
    /// this one. Only their files tell the whole digest.
    ///
    /// - Parameter size: bytes of the image. `nil` for any number.
    package func keys(
        digestPrefix prefix: UInt32, size: Int64? = nil, limit: Int = .max
    ) -> [CacheKey] {
        var keys: [CacheKey] = []
        var place = prefix == 0 ? Self.none : head(.alike, prefix)
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

    /// An entry of another file that seems to have the same bytes as that of an entry, and comes before it.
    package func earlierCopy(of key: CacheKey) -> CacheKey? {
        guard let place = place(of: key) else { return nil }
        let entry = self[place]
        var earliest = entry
        for other in keys(digestPrefix: entry.digestPrefix, size: entry.size, limit: 16) {
            if let found = self.place(of: other), self[found].file < earliest.file {
                earliest = self[found]
            }
        }
        return earliest.file < entry.file ? earliest.key : nil
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
    package func sibling(of facts: EntryFacts, except key: CacheKey) -> CacheKey? {
        let entry = Entry(key, facts)
        return entry.isLinked
            ? firstLinked(entry) { self[$0].key != key }.map { self[$0].key } : nil
    }

    /// Bytes that the disk would hold no longer if the entry's name went away.
    package func bytesFreed(byRemoving key: CacheKey) -> Int64 {
        guard let place = place(of: key) else { return 0 }
        let entry = self[place]
        return entry.isLinked && names(of: place).count > 1 ? 0 : entry.allocated
    }

    /// The places of all names of the file of an entry, its own included.
    private func names(of place: UInt32) -> [UInt32] {
        let entry = self[place]
        guard entry.isLinked else { return [place] }
        var places: [UInt32] = []
        var next = head(.linked, entry.file)
        while next != Self.none {
            if self[next].isSameFile(as: entry) { places.append(next) }
            next = self[next].nextLinked
        }
        return places
    }

    private func firstLinked(_ entry: Entry, where isWanted: (UInt32) -> Bool) -> UInt32? {
        var next = head(.linked, entry.file)
        while next != Self.none {
            if self[next].isSameFile(as: entry), isWanted(next) { return next }
            next = self[next].nextLinked
        }
        return nil
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
            return FileTotals(allocated: bytes, used: entry.part == .used ? bytes : 0)
        }
        return share(of: names(of: place))
    }

    private func share(of names: [UInt32]) -> FileTotals {
        guard let first = names.first else { return FileTotals() }
        let bytes = self[first].allocated
        let pins = names.count { self[$0].isPinned }
        let isUsed = pins == 0 && names.contains { self[$0].part == .used }
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
            enchain(place, .alike)
            if entry.isLinked { enchain(place, .linked) }
            totals = totals + share(of: place)
            return
        }
        totals = totals + -share(of: other)
        if !self[other].isLinked {
            self[other].isLinked = true
            enchain(other, .linked)
        }
        enchain(place, .linked)
        // The newest facts tell the blocks of the file.
        let names = names(of: place)
        for name in names { self[name].blocks = entry.blocks }
        totals = totals + share(of: names)
    }

    /// Another entry of the same file. It can be one that had a single link when its name was probed last.
    private mutating func otherName(of place: UInt32) -> UInt32? {
        let entry = self[place]
        if let linked = firstLinked(entry, where: { $0 != place }) { return linked }
        var next = head(.alike, alikeHash(entry))
        while next != Self.none {
            if self[next].isSameFile(as: entry) { return next }
            next = self[next].nextAlike
        }
        guard entry.digestPrefix != 0 else { return nil }
        // Its record, unlike this one, does not tell the digest.
        next = head(.alike, entry.file)
        while next != Self.none {
            let other = self[next]
            if other.file == entry.file, other.digestPrefix == 0, other.size == entry.size {
                unchain(next, .alike)
                self[next].digestPrefix = entry.digestPrefix
                enchain(next, .alike)
                return next
            }
            next = other.nextAlike
        }
        return nil
    }

    /// Stops counting the file of an entry that goes away, unless it has another name.
    mutating func detach(_ place: UInt32) {
        guard self[place].isLinked else {
            totals = totals + -share(of: place)
            unchain(place, .alike)
            self[place].isCounted = false
            return
        }
        let names = names(of: place)
        totals = totals + -share(of: names)
        unchain(place, .linked)
        let others = names.filter { $0 != place }
        if self[place].isCounted {
            unchain(place, .alike)
            self[place].isCounted = false
            if let heir = others.first {
                self[heir].isCounted = true
                enchain(heir, .alike)
            }
        }
        totals = totals + share(of: others)
    }

    /// Records what the file of an entry tells about its digest.
    package mutating func setDigestPrefix(_ prefix: UInt32, of key: CacheKey) {
        guard let place = place(of: key), self[place].digestPrefix == 0 else { return }
        detach(place)
        self[place].digestPrefix = prefix
        attach(place)
    }

    // MARK: Chains

    private func alikeHash(_ entry: Entry) -> UInt32 {
        entry.digestPrefix != 0 ? entry.digestPrefix : entry.file
    }

    private func hash(_ entry: Entry, _ chain: Chain) -> UInt32 {
        chain == .alike ? alikeHash(entry) : entry.file
    }

    private func head(_ chain: Chain, _ hash: UInt32) -> UInt32 {
        chain == .alike ? alikeChains[hash] : linkedChains[hash]
    }

    private func next(_ place: UInt32, _ chain: Chain) -> UInt32 {
        chain == .alike ? self[place].nextAlike : self[place].nextLinked
    }

    private func setNext(_ place: UInt32, _ chain: Chain, _ next: UInt32) {
        switch chain {
        case .alike: self[place].nextAlike = next
        case .linked: self[place].nextLinked = next
        }
    }

    private mutating func setHead(_ chain: Chain, _ hash: UInt32, _ place: UInt32) {
        switch chain {
        case .alike: alikeChains[hash] = place
        case .linked: linkedChains[hash] = place
        }
    }

    /// An entry of which neither the digest nor the file is known is in no chain.
    private mutating func enchain(_ place: UInt32, _ chain: Chain) {
        guard hash(self[place], chain) != 0 else { return }
        if (chain == .alike ? alikeChains : linkedChains).isFull { grow(chain) }
        let hash = hash(self[place], chain)
        setNext(place, chain, head(chain, hash))
        setHead(chain, hash, place)
        if chain == .alike { alikeChains.added() } else { linkedChains.added() }
    }

    private mutating func unchain(_ place: UInt32, _ chain: Chain) {
        let after = next(place, chain)
        guard after != Self.unchained else { return }
        let hash = hash(self[place], chain)
        if head(chain, hash) == place {
            setHead(chain, hash, after)
        } else {
            var before = head(chain, hash)
            while next(before, chain) != place { before = next(before, chain) }
            setNext(before, chain, after)
        }
        setNext(place, chain, Self.unchained)
        if chain == .alike { alikeChains.removed() } else { linkedChains.removed() }
    }

    private mutating func grow(_ chain: Chain) {
        var members: [UInt32] = []
        forEachPlace { if next($0, chain) != Self.unchained { members.append($0) } }
        if chain == .alike { alikeChains.grow() } else { linkedChains.grow() }
        for place in members { enchain(place, chain) }
    }

    // MARK: Invariants

    func checkFiles() {
        var files: [[UInt32]: [UInt32]] = [:]
        var single: [UInt32] = []
        var counted = 0
        forEachPlace { place in
            let entry = self[place]
            counted += entry.isCounted && alikeHash(entry) != 0 ? 1 : 0
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
        precondition(counted == alikeChains.count, "the chains by digest miss an entry")
        forEachPlace { place in
            precondition(
                (next(place, .alike) != Self.unchained)
                    == (self[place].isCounted && alikeHash(self[place]) != 0)
                    && (next(place, .linked) != Self.unchained) == self[place].isLinked,
                "an entry is in the wrong chains")
        }
    }
}
