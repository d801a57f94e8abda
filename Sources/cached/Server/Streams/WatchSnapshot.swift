import CacheCore
import CacheFetching
import CacheKey
import NIOCore

/// The state at the beginning of a `Watch`. It is read page by page, so that a reply has a limited size however
/// much there is to report.
struct WatchSnapshot: Sendable {
    /// A part of the state.
    struct Page: Sendable {
        var reply = ByteBuffer()
        /// In the first page of a snapshot of downloads: the keys of all of them.
        var downloads: [CacheKey]?
    }

    /// The part that no page has reported yet.
    private enum Remainder {
        case urls(ArraySlice<RequestedURL>)
        /// Everything: first the downloads, then the entries.
        case everything
        case downloadsBeforeEntries(ArraySlice<CacheKey>)
        /// Entries, from a position in the index on.
        case entries(Int)
        /// Downloads and nothing else.
        case allDownloads
        case downloads(ArraySlice<CacheKey>)
        case nothing
    }

    private var remainder: Remainder
    /// The largest number of items in a page.
    static let limit = 256

    /// One item for each URL, in order.
    init(_ urls: [RequestedURL]) {
        remainder = .urls(urls[...])
    }

    private init(_ remainder: Remainder) {
        self.remainder = remainder
    }

    static let everything = WatchSnapshot(.everything)
    static let downloads = WatchSnapshot(.allDownloads)

    /// Whether there is no further page.
    var isComplete: Bool {
        guard case .nothing = remainder else { return false }
        return true
    }

    /// Whether it is a single page that is made from memory, in no time.
    var isShort: Bool {
        guard case .urls(let urls) = remainder else { return false }
        return urls.count <= Self.limit
    }

    /// Makes the next page. It reads files if the snapshot is not of URLs.
    mutating func nextPage(from server: ServerContext) -> Page {
        var page = Page()
        switch remainder {
        case .urls(let urls):
            let batch = urls.prefix(Self.limit)
            server.writeItems(
                batch, .announced, continues: true, removed: [], withPin: true, to: &page.reply)
            let rest = urls.dropFirst(batch.count)
            remainder = rest.isEmpty ? .nothing : .urls(rest)
        case .everything:
            remainder = .downloadsBeforeEntries(server.cache.keysInFlight()[...])
            return nextPage(from: server)
        case .downloadsBeforeEntries(let keys) where keys.isEmpty:
            remainder = .entries(0)
            return nextPage(from: server)
        case .downloadsBeforeEntries(let keys):
            let batch = keys.prefix(Self.limit)
            remainder = .downloadsBeforeEntries(keys.dropFirst(batch.count))
            // A key that is cached by now is reported with the entries.
            page.reply = server.changes(of: Array(batch)) { !$0.isCached }
        case .allDownloads:
            let keys = server.cache.keysInFlight()
            remainder = .downloads(keys[...])
            page = nextPage(from: server)
            page.downloads = keys
        case .downloads(let keys):
            let batch = keys.prefix(Self.limit)
            let rest = keys.dropFirst(batch.count)
            remainder = rest.isEmpty ? .nothing : .downloads(rest)
            page.reply = server.changes(of: Array(batch)) { $0.phase != nil }
        case .entries(let position):
            let (keys, next) = Self.entries(from: position, server.cache)
            remainder = next.map { .entries($0) } ?? .nothing
            page.reply = server.changes(of: keys) { $0.isCached }
        case .nothing:
            preconditionFailure("a page is asked for after the last one")
        }
        return page
    }

    /// The keys of one page of entries, and the position of the next page; `nil` after the last one.
    private static func entries(from position: Int, _ cache: Cache) -> ([CacheKey], Int?) {
        var keys: [CacheKey] = []
        var position = position
        while keys.count < limit {
            let (found, hasMore) = cache.entryKeys(&position, places: limit - keys.count)
            keys += found
            guard hasMore else { return (keys, nil) }
        }
        return (keys, position)
    }
}

extension ServerContext {
    /// A reply to `Watch` about the keys that are cached or in flight and that `isIncluded` accepts.
    fileprivate func changes(
        of keys: [CacheKey], where isIncluded: (Lookup) -> Bool
    ) -> ByteBuffer {
        let found = zip(keys, cache.lookup(keys, .announced)).filter { isIncluded($0.1) }
        let changes = replies.changes(found.map(\.0), found.map(\.1), url: cache.url)
        var reply = ByteBuffer()
        replies.write(changes.filter { $0.state == .present }, continues: true, to: &reply)
        return reply
    }
}
