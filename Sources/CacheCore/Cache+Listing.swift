public import CacheKey

/// In which order entries are listed.
public enum ListOrder: Sendable {
    /// Most recently used first.
    case recency
    /// Largest first, by the bytes of the image.
    case size
    /// Longest in the cache first, by when the bytes were fetched.
    case age
}

/// One entry of a listing.
public struct ListedEntry: Sendable {
    public let key: CacheKey
    public let facts: EntryFacts
}

/// Listing and counting.
extension Cache {
    /// One page of all entries.
    ///
    /// - Parameters:
    ///   - limit: entries on the page, at most.
    ///   - cursor: the last key of the page before. Where that entry went meanwhile, the listing ends.
    public func list(_ order: ListOrder, limit: Int, after cursor: CacheKey?) -> [ListedEntry] {
        drainWatch()
        examineUnverified()
        guard order == .recency else { return sorted(order, limit, after: cursor) }
        return performing { state in
            let keys = state.index.mostRecent(after: cursor, limit: limit)
            let entries = keys.compactMap { key in
                state.index.facts(of: key).map { ListedEntry(key: key, facts: $0) }
            }
            return (entries, [])
        }
    }

    private func sorted(
        _ order: ListOrder, _ limit: Int, after cursor: CacheKey?
    ) -> [ListedEntry] {
        let rank: (ListedEntry) -> (Int64, CacheKey) = { entry in
            let facts = entry.facts
            return (order == .size ? facts.size : -Int64(facts.fetchedAt.rawValue), entry.key)
        }
        var entries = allEntries()
        entries.sort { rank($0) > rank($1) }
        guard let cursor else { return Array(entries.prefix(limit)) }
        guard let position = entries.firstIndex(where: { $0.key == cursor }) else { return [] }
        return Array(entries[(position + 1)...].prefix(limit))
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
        let hasMore = performing { state in
            let hasMore = state.index.readStretch(&position) { key, facts in
                entries.append(ListedEntry(key: key, facts: facts))
            }
            return (hasMore, [])
        }
        return (entries, hasMore)
    }

    /// Looks at every name that changed since it was last looked at.
    private func examineUnverified() {
        let keys = performing { state in (Array(state.unverified), []) }
        _ = lookup(keys)
    }

    /// How things stand.
    public func statistics() -> Statistics {
        drainWatch()
        examineUnverified()
        return performing { state in (Statistics(state), []) }
    }
}

/// Gauges and counters of a cache.
public struct Statistics: Sendable {
    /// Entries held.
    public let entries: Int
    /// Bytes the disk holds for them, attributes included.
    public let bytesUsed: Int64
    /// Downloads handed to the network.
    public let transfersRunning: Int
    /// Downloads waiting for their turn.
    public let transfersQueued: Int
    /// Whether the first scan is through and every change is seen.
    public let isWhole: Bool
    let counters: Counters

    init(_ state: borrowing CacheState) {
        entries = state.index.count
        bytesUsed = state.index.allocated
        transfersRunning = state.running
        transfersQueued = state.flights.values.count { $0.phase == .queued }
        isWhole = state.trust == .whole
        counters = state.counters
    }

    /// Counts since the start: see ``Counters``.
    public var hits: Int { counters.hits }
    public var misses: Int { counters.misses }
    public var joined: Int { counters.joined }
    public var published: Int { counters.published }
    public var failed: Int { counters.failed }
    public var removed: Int { counters.removed }
    public var bytesReceived: Int64 { counters.bytesReceived }
}

extension Cache {
    /// The libcurl in use, its TLS library included. Print it: distributions fix old versions without
    /// changing the number. curl_version(3).
    public static var curlVersion: String { TransferLoop.curlVersion }
}
