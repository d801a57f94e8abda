import CacheKey
import CacheWire

/// The output of `watch`, and the latest state of the watched URLs.
struct WatchReport {
    private let json: Bool
    /// Lines of standard input that cannot be URLs.
    private let invalidLines: [Item]
    /// Whether all URLs are watched, not a list of them.
    private let watchesEverything: Bool
    /// URLs by key: the listed URLs or, if everything is watched, those of all present items.
    private var urls: [String: String] = [:]
    /// The latest item of each listed key.
    private var latest: [String: Item] = [:]
    /// The keys that were last reported as cached.
    private var cachedKeys: Set<String> = []
    private var output = Output()

    init(_ named: URLList?, json: Bool) throws(CommandFailure) {
        if named != nil { try CommandFailure.checkThatKeysCanBeComputed() }
        self.json = json
        watchesEverything = named == nil
        invalidLines = named?.invalidLines.map(\.item) ?? []
        for url in named?.urls ?? [] { urls[Self.key(of: url)] = url }
    }

    /// The key of the text's bytes, whether or not they are a valid URL.
    private static func key(of text: String) -> String {
        Array(text.utf8).withUnsafeBytes { "\(CacheKey(urlBytes: $0))" }
    }

    /// Prints the lines that cannot be watched.
    mutating func begin() throws {
        for item in invalidLines { try output.status(item, json: json) }
        try output.flush()
    }

    /// Prints the changes of a reply.
    mutating func add(_ reply: Methods.Watch.Reply) throws {
        // A failed download appears both as an item and as a removed key. Its item is enough.
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
        // The text format does not show the progress of a refresh.
        if !json, item.phase != nil, item.state == .cached, !isNew { return }
        try output.status(item, json: json)
    }

    /// Remembers whether the key is cached. Returns whether that has changed.
    private mutating func markCached(_ key: String, _ isCached: Bool) -> Bool {
        isCached ? cachedKeys.insert(key).inserted : cachedKeys.remove(key) != nil
    }

    private mutating func remove(_ key: String) throws {
        // If an image appeared and vanished between two replies, it was never reported.
        guard !watchesEverything || urls[key] != nil else { return }
        // The URL is empty if the daemon does not know it.
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

    /// Whether no listed URL is valid, so that there will never be a change.
    var canNeverChange: Bool {
        !watchesEverything && latest.count == urls.count
            && latest.values.allSatisfy(\.hasInvalidURL)
    }

    /// The exit status of `status` as soon as every listed URL is cached or has failed; `nil`
    /// before.
    var settledStatus: ExitStatus? {
        guard latest.count == urls.count else { return nil }
        var tally = ExitTally()
        for item in invalidLines + latest.values {
            guard item.state == .cached || (item.state == .missing && item.failure != nil) else {
                return nil
            }
            tally.count(item)
        }
        return tally.status
    }
}

/// The JSON for an image that is no longer there.
private struct RemovedKey: JSONWritable {
    let key: String
    /// `nil` if unknown.
    let url: String?

    func write(to json: inout JSONText) {
        json.object { json in
            json.member("key", key)
            json.member("url", url)
            json.member("removed", true)
        }
    }
}
