internal import CacheKey

/// In which order entries are listed.
public enum ListOrder: String, Sendable {
    /// Most recently used first.
    case recency
    /// Largest first, by the bytes of the image.
    case size
    /// Longest in the cache first, by when the bytes were fetched.
    case age
}

/// Where in a listing an entry stands: the last of one page tells where the next begins.
public struct ListCursor: Hashable, Comparable, Sendable, LosslessStringConvertible {
    public let order: ListOrder
    /// What the entries are ordered by.
    private let rank: Int64
    let key: CacheKey

    public init(_ entry: ListedEntry, in order: ListOrder) {
        self.order = order
        key = entry.key
        switch order {
        case .recency: rank = entry.facts.lastUsedAt.nanoseconds
        case .size: rank = entry.facts.size
        case .age: rank = -Int64(entry.facts.fetchedAt.rawValue)
        }
    }

    /// Parses what `description` gave; `nil` for anything else.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let order = ListOrder(rawValue: String(parts[0])),
            let rank = Int64(parts[1]), let key = CacheKey(String(parts[2]))
        else { return nil }
        self.order = order
        self.rank = rank
        self.key = key
    }

    public var description: String { "\(order.rawValue)/\(rank)/\(key)" }

    /// Among cursors of one order.
    public static func < (left: ListCursor, right: ListCursor) -> Bool {
        (left.rank, left.key) < (right.rank, right.key)
    }
}

/// Listing and counting.
extension Cache {
    /// One page of all entries. An entry that nobody uses, changes or removes meanwhile stands on one page
    /// of a listing.
    ///
    /// - Parameters:
    ///   - isReversed: from the other end of the order.
    ///   - limit: entries on the page, at most.
    ///   - cursor: the last entry of the page before, in this order. Where that was used meanwhile, or
    ///     went, the listing goes on where it would have stood.
    /// - Complexity: by recency a page costs as much as there is on it. By size and age every page goes
    ///   through all entries once; so does one by recency whose cursor was used or went.
    public func list(
        _ order: ListOrder, isReversed: Bool = false, limit: Int, after cursor: ListCursor?
    ) -> [ListedEntry] {
        drainWatch()
        probeDirtyNames()
        // Else paths would lead nowhere.
        while directory.isInPlace {
            let page =
                (order == .recency ? next(limit, isReversed: isReversed, after: cursor) : nil)
                ?? first(limit, in: order, isReversed: isReversed, after: cursor)
            if areThere(page) { return page }
        }
        return []
    }

    /// Whether all of a page is there. Where the index can't be believed that is looked at, which takes off it
    /// what is not; what can't be looked at stays.
    private func areThere(_ page: [ListedEntry]) -> Bool {
        guard read({ $0.catalog.validity == .stale }) else { return true }
        _ = lookup(page.map(\.key))
        return read { state in page.allSatisfy { state.catalog.contains($0.key) } }
    }

    /// The next entries in the order of use; `nil` where the entry before them does not lead to them, or the
    /// order of use is not that of the times.
    private func next(
        _ limit: Int, isReversed: Bool, after cursor: ListCursor?
    ) -> [ListedEntry]? {
        read { state in
            guard state.catalog.index.isInOrderOfTime else { return nil }
            if let cursor {
                let entry = state.catalog.facts(of: cursor.key).map {
                    ListedEntry(key: cursor.key, facts: $0)
                }
                guard entry.map({ ListCursor($0, in: .recency) }) == cursor else {
                    return nil
                }
            }
            return state.catalog.index.inOrderOfUse(
                isReversed: isReversed, after: cursor?.key, limit: limit)
        }
    }

    /// The first entries of an order behind a cursor, found without sorting all of them: whatever
    /// stands behind a page that is full already is passed over.
    private func first(
        _ limit: Int, in order: ListOrder, isReversed: Bool, after cursor: ListCursor?
    ) -> [ListedEntry] {
        // The greatest stand first, unless the order is reversed.
        func stands(_ one: ListCursor, before other: ListCursor) -> Bool {
            isReversed ? one < other : one > other
        }
        var page: [(at: ListCursor, entry: ListedEntry)] = []
        var position = 0
        var hasMore = true
        while hasMore {
            let stretch = readStretch(&position)
            hasMore = stretch.hasMore
            let last = page.count < limit ? nil : page.last?.at
            for entry in stretch.entries {
                let at = ListCursor(entry, in: order)
                if let cursor, !stands(cursor, before: at) { continue }
                if let last, !stands(at, before: last) { continue }
                page.append((at, entry))
            }
            page.sort { stands($0.at, before: $1.at) }
            page.removeLast(max(page.count - limit, 0))
        }
        return page.map(\.entry)
    }

    /// Every entry, read in stretches so that no answer waits for long.
    public func allEntries() -> [ListedEntry] {
        var entries: [ListedEntry] = []
        var position = 0
        var hasMore = true
        while hasMore {
            let stretch = readStretch(&position)
            entries += stretch.entries
            hasMore = stretch.hasMore
        }
        return entries
    }

    func readStretch(_ position: inout Int) -> (entries: [ListedEntry], hasMore: Bool) {
        var entries: [ListedEntry] = []
        let hasMore = read { state in
            state.catalog.index.readStretch(&position) { key, facts in
                entries.append(ListedEntry(key: key, facts: facts))
            }
        }
        return (entries, hasMore)
    }

    /// Looks at every name that changed since it was last looked at.
    func probeDirtyNames() {
        let (keys, partials) = read { state in
            (Array(state.catalog.dirtyNames), Array(state.space.partials.dirtyNames))
        }
        _ = lookup(keys)
        for key in partials { probePartial(of: key) }
    }

    private func probePartial(of key: CacheKey) {
        let start = run { state, _ in state.space.partials.beginProbe() }
        do {
            let bytes = try directory.allocated(toPartialOf: key)
            run { state, _ in state.partialProbed(key, bytes, since: start) }
        } catch {
            // It stays among those to be looked at.
            run { state, _ in state.space.partials.endProbe() }
        }
    }

    /// How things stand.
    public func statistics() -> Statistics {
        drainWatch()
        probeDirtyNames()
        var statistics = read { Statistics($0) }
        statistics.isDirectoryInPlace = directory.isInPlace
        statistics.isDirectoryWritable = directory.isWritable
        return statistics
    }
}

/// Gauges and counters of a cache.
public struct Statistics: Sendable {
    /// Entries held.
    public let entries: Int
    /// Bytes the disk holds for them and for partials, attributes included.
    public let bytesUsed: Int64
    /// Bytes that may be held: the budget, or less where the floor of free space is near.
    public let bytesAllowed: Int64
    /// Bytes that may be held by configuration, and bytes of the file system kept free.
    public let bytesBudget: Int64
    public let bytesMinimumFree: Int64
    /// Bytes set aside for downloads under way.
    public let bytesReserved: Int64
    /// Pinned entries, and the bytes the disk holds for them.
    public let pinned: Removal
    /// Partials no download is writing to.
    public let partials: Int
    /// Downloads handed to the network.
    public let transfersRunning: Int
    /// Downloads waiting for their turn.
    public let transfersQueued: Int
    /// Whether the path leads to the directory, and whether that can be written to.
    public internal(set) var isDirectoryInPlace = true
    public internal(set) var isDirectoryWritable = true
    /// Whether the first scan is through and every change is seen.
    public let isWhole: Bool
    let counters: Counters

    init(_ state: borrowing CacheState) {
        entries = state.catalog.index.count
        bytesUsed = state.bytesUsed
        bytesAllowed = state.space.ceiling
        bytesBudget = state.space.budget.maximumBytes
        bytesMinimumFree = state.space.budget.minimumFree
        bytesReserved = state.space.reserved
        pinned = state.catalog.index.pinned
        partials = state.space.partials.count
        transfersRunning = state.scheduler.running
        transfersQueued = state.downloads.all.count { $0.value.phase == .queued }
        isWhole = state.catalog.validity == .complete
        counters = state.counters
    }

    /// Counts since the start: see ``Counters``.
    public var hits: Int { counters.hits }
    public var misses: Int { counters.misses }
    public var joined: Int { counters.joined }
    public var published: Int { counters.published }
    public var failed: Int { counters.failed }
    public var retried: Int { counters.retried }
    public var failuresRepeated: Int { counters.failuresRepeated }
    public var revalidated: Int { counters.revalidated }
    public var staleAnswers: Int { counters.staleAnswers }
    public var withdrawn: Removal { counters.withdrawn }
    public var removed: Int { counters.removed }
    public var damaged: Int { counters.damaged }
    public var bytesReceived: Int64 { counters.bytesReceived }
    public var evicted: Removal { counters.evicted }
    public var dropped: Removal { counters.dropped }
    public var refused: Int { counters.refused }
}

extension Cache {
    /// The libcurl in use, its TLS library included. Print it: distributions fix old versions without
    /// changing the number. curl_version(3).
    public static var curlVersion: String { CurlMulti.version }
}
