package import CacheDisk
import CacheFetching
internal import CacheKey
import CacheModel
public import CacheValues
import ImageFormats

/// Listing and counting.
extension Cache {
    /// Returns one page of a listing of all entries. An entry appears on exactly one page, unless it is used,
    /// changed or removed between the calls.
    ///
    /// - Parameters:
    ///   - isReversed: lists from the other end of the order.
    ///   - limit: the largest number of entries on the page.
    ///   - cursor: the last entry of the previous page, in the same order. If that entry was used or removed
    ///     since, the listing continues from its former position.
    /// - Complexity: by recency, proportional to the entries on the page. By size and age, each page reads all
    ///   entries once; so does a page by recency if the entry of its cursor was used or removed.
    public func list(
        _ order: ListOrder, isReversed: Bool = false, limit: Int, after cursor: ListCursor?
    ) -> [ListedEntry] {
        drainWatch()
        probeDirtyNames()
        // If the directory is not in place, the paths of its entries lead nowhere.
        while directory.isInPlace {
            var page =
                (order == .recency ? next(limit, isReversed: isReversed, after: cursor) : nil)
                ?? first(limit, in: order, isReversed: isReversed, after: cursor)
            guard areThere(page) else { continue }
            let recovered = recovered(
                page.map(\.key), isUnknown: { page[$0].facts.mediaType == .other })
            for case (let place, .cached(let facts, _, _)) in recovered {
                page[place] = ListedEntry(key: page[place].key, facts: facts)
            }
            return page
        }
        return []
    }

    /// Whether all entries of a page exist. If the index is stale, this probes each of them, which removes
    /// missing ones from the index. Entries that can't be probed count as existing.
    private func areThere(_ page: [ListedEntry]) -> Bool {
        guard read({ $0.disk.validity == .stale }) else { return true }
        _ = lookup(page.map(\.key))
        return read { state in page.allSatisfy { state.disk.contains($0.key) } }
    }

    /// The next entries in the order of use. `nil` if the entry of the cursor has moved or is gone, or if the
    /// order of the index is not the order of the times.
    private func next(
        _ limit: Int, isReversed: Bool, after cursor: ListCursor?
    ) -> [ListedEntry]? {
        read { state in
            guard state.disk.index.isInOrderOfTime else { return nil }
            if let cursor {
                let entry = state.disk.facts(of: cursor.key).map {
                    ListedEntry(key: cursor.key, facts: $0)
                }
                guard entry.map({ ListCursor($0, in: .recency) }) == cursor else {
                    return nil
                }
            }
            return state.disk.index.inOrderOfUse(
                isReversed: isReversed, after: cursor?.key, limit: limit)
        }
    }

    /// The first entries after a cursor, found without sorting all entries: once the page was full, an entry that
    /// comes after the last one on it is skipped.
    private func first(
        _ limit: Int, in order: ListOrder, isReversed: Bool, after cursor: ListCursor?
    ) -> [ListedEntry] {
        // The greatest come first, unless the order is reversed.
        func stands(_ one: ListCursor, before other: ListCursor) -> Bool {
            isReversed ? one < other : one > other
        }
        var page: [(at: ListCursor, entry: ListedEntry)] = []
        // The last one that can be on the page; `nil` while all can.
        var last: ListCursor?
        var position = 0
        var hasMore = true
        while hasMore {
            let stretch = readStretch(&position)
            hasMore = stretch.hasMore
            for entry in stretch.entries {
                let at = ListCursor(entry, in: order)
                if let cursor, !stands(cursor, before: at) { continue }
                if let last, !stands(at, before: last) { continue }
                page.append((at, entry))
            }
            // Sorting after each stretch would take a time that grows with the square of the page.
            guard page.count >= 2 * limit || !hasMore else { continue }
            page.sort { stands($0.at, before: $1.at) }
            page.removeLast(max(page.count - limit, 0))
            if page.count == limit { last = page.last?.at }
        }
        return page.map(\.entry)
    }

    /// The first entries in the order of eviction, each with its class. Pinned ones come last.
    ///
    /// - Complexity: reads all entries once.
    package func listForEviction(
        limit: Int
    ) -> [(entry: ListedEntry, usageClass: UsageClass)] {
        drainWatch()
        probeDirtyNames()
        guard directory.isInPlace else { return [] }
        var order = EvictionOrder(limit: limit, totals: read { $0.disk.index.totals })
        var (position, hasMore) = (0, true)
        while hasMore {
            let stretch = readStretch(&position)
            hasMore = stretch.hasMore
            for entry in stretch.entries { order.add(entry) }
        }
        return order.entries()
    }

    /// Reads one batch of entries under one hold of the lock. `position` starts at 0 and moves on.
    func readStretch(_ position: inout Int) -> (entries: [ListedEntry], hasMore: Bool) {
        var entries: [ListedEntry] = []
        let hasMore = read { state in
            state.disk.index.readStretch(&position) { key, facts in
                entries.append(ListedEntry(key: key, facts: facts))
            }
        }
        return (entries, hasMore)
    }

    /// Probes every name that changed since its last probe.
    func probeDirtyNames() {
        let (keys, partials) = read { state in
            (Array(state.disk.dirtyNames), Array(state.disk.space.partials.dirtyNames))
        }
        // A lookup in a directory that is lost would wake the thread that may have called this.
        if directory.isInPlace { _ = lookupInPlace(keys) }
        for key in partials { probePartial(of: key) }
    }

    private func probePartial(of key: CacheKey) {
        let start = run { state, _ in state.disk.beginPartialProbe() }
        do {
            let bytes = try directory.allocated(toPartialOf: key)
            run { state, _ in state.disk.partialProbed(key, bytes, since: start) }
        } catch {
            // The name stays dirty, so it is probed again.
            run { state, _ in state.disk.endPartialProbe() }
        }
    }

    /// Returns the current numbers, after all changes to the directory are applied.
    public func statistics() -> Statistics {
        drainWatch()
        probeDirtyNames()
        var statistics = read { Statistics($0) }
        statistics.isDirectoryInPlace = directory.isInPlace
        statistics.isDirectoryWritable = directory.isWritable
        return statistics
    }
}

extension Cache {
    /// The version of libcurl and of its TLS library, for people to read. Don't compare it: distributions fix
    /// bugs in old versions without changing the number. curl_version_info(3).
    public static var curlVersion: String { CurlMulti.version }

    /// The system's file of certificates, if it is missing or cannot be read.
    public static var missingCertificates: String? { SystemCertificates.missingFile }

    /// How images are downloaded.
    public var transferSettings: TransferSettings { settings.transfers }

    /// The certificates that downloads trust.
    public var trustStore: TrustStore { TrustStore(settings.transfers) }
}
