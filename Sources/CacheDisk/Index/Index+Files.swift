package import CacheKey
import CacheValues

/// Files, of which each can have several names and is counted once.
///
/// The chains by content find the files with equal bytes, and the names of a file: they have the same content.
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
        var linked: [UInt32] = []
        var place = prefix == 0 ? Self.none : first(ofContent: prefix)
        while place != Self.none, keys.count < limit {
            let entry = self[place]
            if entry.digestPrefix == prefix, size == nil || measures(at: place).size == size,
                !entry.isLinked || !linked.contains(entry.file)
            {
                keys.append(entry.key)
                if entry.isLinked { linked.append(entry.file) }
            }
            place = entry.nextByContent
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
        let size = measures(at: place).size
        return names(of: place).count > 1
            || keys(digestPrefix: self[place].digestPrefix, size: size, limit: 2).count > 1
    }

    /// Another name of the file of an entry that is perhaps not in the index any more.
    func sibling(of facts: EntryFacts, except key: CacheKey) -> CacheKey? {
        let entry = Entry(key, facts)
        guard entry.isLinked else { return nil }
        return entries(ofFileOf: entry, size: facts.size)
            .first { self[$0].isLinked && self[$0].key != key }.map { self[$0].key }
    }

    /// Bytes that the disk would hold no longer if the entry's name went away.
    func bytesFreed(byRemoving key: CacheKey) -> Int64 {
        guard let place = place(of: key), !self[place].isLinked || names(of: place).count == 1
        else { return 0 }
        return measures(at: place).allocated
    }

    /// The places of all names of the file of an entry, its own included.
    private func names(of place: UInt32) -> [UInt32] {
        let entry = self[place]
        guard entry.isLinked else { return [place] }
        return entries(ofFileOf: entry, size: measures(at: place).size).filter { self[$0].isLinked }
    }

    /// The places of the entries whose file is that of an entry. Those that are not linked had a single link when
    /// their names were probed last.
    private func entries(ofFileOf entry: Entry, size: Int64) -> [UInt32] {
        var places: [UInt32] = []
        var place = first(ofContent: entry.hash(.byContent))
        while place != Self.none {
            let other = self[place]
            if other.file == entry.file, other.digestPrefix == entry.digestPrefix,
                measures(at: place).size == size
            {
                places.append(place)
            }
            place = other.nextByContent
        }
        return places
    }

    /// The last use of the file of an entry, under any of its names. Its access time is that.
    func lastUse(ofFileAt place: UInt32) -> Int64 {
        names(of: place).reduce(self[place].lastUsedAt) { max($0, self[$1].lastUsedAt) }
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
        guard !self[place].isLinked else { return share(of: names(of: place)) }
        let bytes = measures(at: place).allocated
        return switch self[place].usageClass {
        case .pinned: FileTotals(allocated: bytes, pinned: Removal(entries: 1, bytes: bytes))
        case .used: FileTotals(allocated: bytes, used: bytes)
        case .unused: FileTotals(allocated: bytes)
        }
    }

    private func share(of names: [UInt32]) -> FileTotals {
        guard let first = names.first else { return FileTotals() }
        let bytes = measures(at: first).allocated
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
        if self[place].isLinked {
            // The newest facts have the blocks of the file.
            let measures = measures(at: place)
            let others = entries(ofFileOf: self[place], size: measures.size)
            let counted = others.filter { self[$0].isLinked }
            totals = totals + -share(of: counted)
            for name in others {
                if !self[name].isLinked { totals = totals + -share(of: name) }
                self[name].isLinked = true
                setMeasures(measures, at: name)
            }
        }
        enchain(place)
        totals = totals + share(of: place)
    }

    /// Stops counting the file of an entry that goes away, unless it has another name.
    mutating func detach(_ place: UInt32) {
        let others = self[place].isLinked ? names(of: place).filter { $0 != place } : []
        totals = totals + -share(of: place)
        unchain(place)
        totals = totals + share(of: others)
    }

    // MARK: Invariants

    func checkFiles() {
        var files: [Set<UInt32>: FileTotals] = [:]
        forEachPlace { place in
            let names = names(of: place)
            precondition(names.contains(place), "an entry is no name of its file")
            files[Set(names)] = share(of: place)
        }
        precondition(
            files.keys.reduce(0) { $0 + $1.count } == count, "a name belongs to several files")
        let sum = files.values.reduce(FileTotals()) { $0 + $1 }
        precondition(sum == totals, "\(totals) counted, \(sum) found")
    }
}
