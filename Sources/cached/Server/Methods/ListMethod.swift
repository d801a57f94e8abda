import CacheCore
import CacheDisk
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import NIOCore

/// `List`: one page of entries, or of downloads.
struct ListMethod: Sendable {
    /// `nil` for that of eviction.
    private let order: CacheCore.ListOrder?
    private let isReversed: Bool
    private let limit: Int
    private let cursor: ListCursor?
    /// The number of entries before the page, in the order of eviction.
    private let place: Int
    /// The last key of the page before, in a list of downloads or failures.
    private let afterKey: CacheKey?
    private var filter: ListFilter
    private let keysOnly: Bool

    /// The largest number of items in a page. A page stays well below the 16 MiB of a message, however long its
    /// URLs are.
    static let maximum = 1000
    /// The largest number of keys in a page.
    static let keysMaximum = 100_000
    /// The number of entries that are looked at for a page. A page that finds fewer than its limit ends there.
    private static let examined = 20_000

    init(_ parameters: Methods.List.Parameters) throws(WireError) {
        let order = CacheCore.ListOrder(parameters.order ?? .recency)
        guard order != nil || parameters.reverse != true else {
            throw .invalidParameter(
                parameter: "reverse", reason: "the order of eviction has one direction")
        }
        filter = try ListFilter(
            parameters, contains: parameters.contains, sha256: parameters.sha256,
            originals: parameters.originals ?? false)
        keysOnly = parameters.keysOnly ?? false
        isReversed = parameters.reverse ?? false
        let maximum = keysOnly ? Self.keysMaximum : Self.maximum
        let limit = parameters.limit ?? maximum
        guard limit > 0 else {
            throw .invalidParameter(parameter: "limit", reason: "it must be greater than 0")
        }
        self.limit = min(limit, maximum)
        self.order = order
        let isByKey = filter.state == .inFlight || filter.state == .failed
        let after = parameters.after
        cursor = isByKey ? nil : after.flatMap { ListCursor($0) }
        afterKey = isByKey ? after.flatMap { CacheKey($0) } : nil
        place = order == nil ? after.flatMap { Int($0) } ?? 0 : 0
        guard
            after == nil || afterKey != nil
                || !isByKey && (order == nil ? place > 0 : cursor?.order == order)
        else {
            throw .invalidParameter(
                parameter: "after", reason: "it is not the after of a page in this order")
        }
    }

    /// Reads the page and the attributes of its files.
    func writeReply(from server: ServerContext, to output: inout ByteBuffer) {
        var method = self
        method.filter.findContent(in: server.cache)
        method.write(from: server, to: &output)
    }

    private func write(from server: ServerContext, to output: inout ByteBuffer) {
        if filter.state == .inFlight { return writeDownloads(from: server, to: &output) }
        if filter.state == .failed { return writeFailures(from: server, to: &output) }
        guard let order else { return writeVictims(from: server, to: &output) }
        let (found, after) = page(of: server.cache, order)
        guard !keysOnly else {
            return server.replies.writeKeys(
                found.map(\.entry.key), after: after?.description, to: &output)
        }
        server.replies.writeItems(of: found, after: after?.description, to: &output) {
            found, output in
            let details =
                found.details ?? server.cache.details(of: found.entry.key, found.entry.facts)
            (details.url ?? "").withUTF8Bytes { url in
                server.replies.items.write(
                    url: url, found.entry.key, .cached(found.entry.facts), details: details,
                    to: &output)
            }
        }
    }

    // MARK: Entries

    private typealias Found = (entry: ListedEntry, details: EntryDetails?)

    /// The entries of the page, and the position after it; `nil` after the last page.
    private func page(
        of cache: Cache, _ order: CacheCore.ListOrder
    ) -> (found: [Found], after: ListCursor?) {
        var found: [Found] = []
        var position = cursor
        var examined = 0
        let now = UnixTime.now
        while found.count < limit, examined < Self.examined || filter.takesAll {
            let chunk = filter.takesAll ? limit : Self.maximum
            let entries = cache.list(
                order, isReversed: isReversed, limit: chunk, after: position)
            for entry in entries where found.count < limit {
                position = ListCursor(entry, in: order)
                examined += 1
                guard filter.takes(entry, of: cache, now: now) else { continue }
                let details =
                    filter.needsDetails(of: entry.facts)
                    ? cache.details(of: entry.key, entry.facts) : nil
                if filter.takes(url: details?.url, entry.key) { found.append((entry, details)) }
            }
            guard entries.count == chunk else {
                return (found, found.count == limit ? position : nil)
            }
        }
        return (found, position)
    }

    // MARK: The order of eviction

    private func writeVictims(from server: ServerContext, to output: inout ByteBuffer) {
        let end = place + (filter.takesAll ? limit : Self.examined)
        let order = server.cache.listForEviction(limit: end)
        let now = UnixTime.now
        var position = place
        var found: [(entry: ListedEntry, details: EntryDetails?, rank: Item.Rank)] = []
        for (entry, usageClass) in order.dropFirst(place) where found.count < limit {
            position += 1
            guard filter.takes(entry, of: server.cache, now: now) else { continue }
            let needsDetails = filter.needsDetails(of: entry.facts) || !keysOnly
            let details = needsDetails ? server.cache.details(of: entry.key, entry.facts) : nil
            guard filter.takes(url: details?.url, entry.key) else { continue }
            found.append((entry, details, Item.Rank(usageClass)))
        }
        let isLast = order.count < end && position == order.count
        let after = isLast ? nil : "\(position)"
        guard !keysOnly else {
            return server.replies.writeKeys(found.map(\.entry.key), after: after, to: &output)
        }
        server.replies.writeItems(of: found, after: after, to: &output) { found, output in
            (found.details?.url ?? "").withUTF8Bytes { url in
                server.replies.items.write(
                    url: url, found.entry.key, .cached(found.entry.facts),
                    details: found.details, rank: found.rank, to: &output)
            }
        }
    }

    // MARK: Failures

    private func writeFailures(from server: ServerContext, to output: inout ByteBuffer) {
        var last: [CacheKey: CacheFetching.HistoryEvent] = [:]
        for event in server.cache.events(HistoryQuery()) { last[event.key] = event }
        let failed = last.values.filter { event in
            event.kind == .failed && afterKey.map { $0 < event.key } != false
                && filter.takes(url: event.url, event.key)
        }
        let sorted = failed.sorted { $0.key < $1.key }
        let lookups = server.cache.lookup(sorted.map(\.key))
        let missing = zip(sorted, lookups).filter { _, lookup in
            if case .missing = lookup { true } else { false }
        }
        let page = missing.prefix(limit)
        let after = missing.count > limit ? page.last?.0.key.description : nil
        guard !keysOnly else {
            return server.replies.writeKeys(page.map(\.0.key), after: after, to: &output)
        }
        server.replies.writeItems(of: page, after: after, to: &output) { found, output in
            (found.0.url ?? "").withUTF8Bytes { url in
                server.replies.items.write(
                    url: url, found.0.key, found.1,
                    failure: found.1.failure ?? found.0.failure, to: &output)
            }
        }
    }

    // MARK: Downloads

    private func writeDownloads(from server: ServerContext, to output: inout ByteBuffer) {
        let keys = server.cache.keysInFlight().sorted().filter { key in
            afterKey.map { $0 < key } ?? true
        }
        let wanted = keys.filter { key in
            filter.takesAllDownloads || filter.takes(url: server.cache.url(of: key), key)
        }
        let page = Array(wanted.prefix(limit))
        let after = wanted.count > limit ? page.last?.description : nil
        guard !keysOnly else {
            return server.replies.writeKeys(page, after: after, to: &output)
        }
        // A download can have ended since.
        let running = zip(page, server.cache.lookup(page)).filter { $0.1.phase != nil }
        server.replies.writeItems(of: running, after: after, to: &output) { download, output in
            (server.cache.url(of: download.0) ?? "").withUTF8Bytes { url in
                server.replies.items.write(url: url, download.0, download.1, to: &output)
            }
        }
    }
}

extension CacheCore.ListOrder {
    fileprivate init?(_ order: CacheWire.ListOrder) {
        switch order {
        case .eviction: return nil
        case .recency: self = .recency
        case .size: self = .size
        case .age: self = .age
        }
    }
}

extension Item.Rank {
    fileprivate init(_ usageClass: UsageClass) {
        self =
            switch usageClass {
            case .unused: .neverUsed
            case .used: .leastRecentlyUsed
            case .pinned: .pinned
            }
    }
}
