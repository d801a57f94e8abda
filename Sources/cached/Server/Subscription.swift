import CacheKey

/// Names one subscription among all.
struct SubscriptionID: Hashable {
    let rawValue: UInt64
}

/// What a stream tells about, and how far it has come with it. What is not told yet is held as keys, never
/// as text: who reads slowly is told the newest state, and costs no more than what he asked for.
struct Subscription {
    enum Subject {
        /// These, and the URLs to say them under.
        case named([CacheKey: String])
        case everything
        /// Each download as it is asked for, as its turn comes, and as it ends.
        case downloads
    }

    let id: SubscriptionID
    let subject: Subject
    /// How far in the log of changes; for those who are told everything.
    private(set) var cursor: ChangeLog.Cursor
    /// Changed and not told.
    private var dirty: Set<CacheKey> = []
    /// The downloads whose end is to be told, and whether each was said to wait for its turn, if that is
    /// known; for those who are told of nothing else.
    private var underWay: [CacheKey: Bool?] = [:]
    /// What there is to tell of the state at the beginning.
    var pages: WatchPages?
    /// The next page is being made: what changes meanwhile is told behind it.
    var isPageUnderWay = false

    /// Changes told at a time.
    static let stretch = 256

    init(_ id: SubscriptionID, _ subject: Subject, from cursor: ChangeLog.Cursor) {
        self.id = id
        self.subject = subject
        self.cursor = cursor
    }

    /// It names so many that what goes through all of them would hold up the event loop.
    var isLong: Bool {
        guard case .named(let urls) = subject else { return false }
        return urls.count > 1000
    }

    /// Whether any key may be news, so that the log of all of them is read.
    var isOfEverything: Bool {
        guard case .named = subject else { return true }
        return false
    }

    /// The URL under which a key is watched.
    func url(of key: CacheKey) -> String? {
        guard case .named(let urls) = subject else { return nil }
        return urls[key]
    }

    // MARK: What changes

    /// Keys changed and can't be told now.
    mutating func missed(_ keys: some Sequence<CacheKey>) {
        dirty.formUnion(keys)
    }

    /// All up to a place in the log was told.
    mutating func told(upTo cursor: ChangeLog.Cursor) {
        self.cursor = cursor
    }

    /// These are under way, and told of at the beginning.
    mutating func begin(with keys: [CacheKey]) {
        underWay = Dictionary(keys.map { ($0, nil) }, uniquingKeysWith: { first, _ in first })
        pages = WatchPages(underWay: keys)
    }

    /// What of some changes is to be told.
    mutating func news(in changes: [Change]) -> [Change] {
        guard case .downloads = subject else { return changes }
        return changes.filter { change in
            if let isQueued = change.isQueued {
                return underWay.updateValue(isQueued, forKey: change.key) != isQueued
            }
            // One that failed at once was never seen under way.
            return underWay.removeValue(forKey: change.key) != nil || change.hasFailed
        }
    }

    /// Whether nothing is to be told before the latest changes.
    func isUpToDate(at cursor: ChangeLog.Cursor) -> Bool {
        dirty.isEmpty && (!isOfEverything || self.cursor == cursor)
    }

    /// The next that are to be told, and counts them as told; `nil` where it is too far behind.
    mutating func takeUntold(from log: ChangeLog) -> [CacheKey]? {
        let keys = Array(dirty.prefix(Self.stretch))
        if !keys.isEmpty {
            dirty.subtract(keys)
            return keys
        }
        guard isOfEverything else { return [] }
        guard let (keys, cursor) = log.read(after: cursor, limit: Self.stretch) else { return nil }
        self.cursor = cursor
        return keys
    }

    /// Takes over from another of the same client: what that one was not told is told here, unless
    /// the state at the beginning tells it.
    mutating func succeed(_ other: Subscription) {
        guard isOfEverything else { return }
        dirty = other.dirty
        if other.isOfEverything { cursor = other.cursor }
    }
}
