import CacheKey
import CacheWire

/// What `watch` prints, and how things stand with what it was asked about.
struct WatchReport {
    private let json: Bool
    /// Lines of standard input that can be no URL.
    private let invalidLines: [Item]
    /// Everything is watched.
    private let watchesEverything: Bool
    /// The URLs by their keys: those that were named, or of what is there.
    private var urls: [String: String] = [:]
    /// The latest item of each key that was named.
    private var latest: [String: Item] = [:]
    /// The keys of what was told to be cached.
    private var cachedKeys: Set<String> = []
    private var output = Output()

    init(_ named: URLList?, json: Bool) {
        self.json = json
        watchesEverything = named == nil
        invalidLines = named?.invalidLines.map(\.item) ?? []
        for url in named?.urls ?? [] { urls[Self.key(of: url)] = url }
    }

    /// The key of the bytes, be they a URL or not.
    private static func key(of text: String) -> String {
        Array(text.utf8).withUnsafeBytes { "\(CacheKey(urlBytes: $0))" }
    }

    /// Prints what can't be watched.
    mutating func begin() throws {
        for item in invalidLines { try print(item) }
        try output.flush()
    }

    /// Prints what a reply tells.
    mutating func add(_ reply: Methods.Watch.Reply) throws {
        // What failed is told by its item.
        let reported = Set(reply.items.map(\.key))
        for item in reply.items { try add(item) }
        for key in reply.removed where !reported.contains(key) { try remove(key) }
        try output.flush()
    }

    private mutating func add(_ item: Item) throws {
        if watchesEverything {
            urls[item.key] = item.state == .missing ? nil : item.url
        } else {
            latest[item.key] = item
        }
        let isNew = markCached(item.key, item.state == .cached)
        // The line of an image does not say how far the next version of it is.
        if !json, item.phase != nil, item.state == .cached, !isNew { return }
        try print(item)
    }

    /// Whether that is another than before.
    private mutating func markCached(_ key: String, _ isCached: Bool) -> Bool {
        isCached ? cachedKeys.insert(key).inserted : cachedKeys.remove(key) != nil
    }

    private mutating func print(_ item: Item) throws {
        guard !json else { return try output.json(item) }
        try output.line(item.statusLine)
        guard let failure = item.failure else { return }
        try output.flush()
        StandardError.report(item.url, failure.message)
    }

    private mutating func remove(_ key: String) throws {
        // What came and went between two replies was never told of.
        guard !watchesEverything || urls[key] != nil else { return }
        // It is empty where nobody knows it.
        let url = urls[key].flatMap { $0.isEmpty ? nil : $0 }
        _ = markCached(key, false)
        if watchesEverything {
            urls[key] = nil
        } else {
            latest[key] = Item(url: url ?? "", key: key, state: .missing)
        }
        guard !json else { return try output.json(RemovedKey(key: key, url: url)) }
        try output.line("removed \((url ?? key).printable)")
    }

    /// Nothing that was named is a URL, so that nothing will ever change.
    var canNeverChange: Bool {
        !watchesEverything && latest.count == urls.count
            && latest.values.allSatisfy(\.hasInvalidURL)
    }

    /// The exit status of `status`, once all that was named is cached or has failed; `nil` before.
    var settledStatus: ExitStatus? {
        guard latest.count == urls.count else { return nil }
        var tally = ItemTally()
        for item in invalidLines + latest.values {
            guard item.state == .cached || (item.state == .missing && item.failure != nil) else {
                return nil
            }
            tally.count(item)
        }
        return tally.status
    }
}

/// What `--json` prints of what is not there any more.
private struct RemovedKey: Encodable {
    let key: String
    /// Where it is known.
    let url: String?
    let removed = true
}
