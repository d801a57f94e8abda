import CacheKey

/// The subject of one stream, and the changes of it that the stream has not reported yet.
///
/// Those changes are held as keys, never as text. A client that reads slowly gets the newest state, and costs no more
/// memory than the URLs it asked for.
struct Subscription: Sendable {
    struct ID: Hashable {
        let rawValue: UInt64
    }

    enum Subject: Sendable {
        /// These keys, and the URLs under which they are reported.
        case named([CacheKey: String])
        case everything
        /// Every download: when it is requested, when it starts, and when it ends.
        case downloads

        /// The number of keys that it names.
        var count: Int {
            guard case .named(let urls) = self else { return 0 }
            return urls.count
        }
    }

    let id: ID
    private(set) var subject: Subject
    /// Whether it names so many URLs that a pass over all of them would delay other clients.
    private(set) var isLong: Bool
    /// The position in the change log, if the subscription is about all keys.
    private(set) var cursor: ChangeLog.Cursor
    /// Keys that have changed since they were last reported.
    private var unreported: Set<CacheKey> = []
    /// For the subject `downloads`: the downloads whose end has to be reported, and whether each was last reported
    /// as queued, if that is known.
    private var reportedDownloads: [CacheKey: Bool?] = [:]

    /// The largest number of URLs of a subscription that is not long.
    static let longest = 1000
    /// Changes reported at a time.
    static let batch = 256

    init(_ id: ID, _ subject: Subject, from cursor: ChangeLog.Cursor) {
        self.id = id
        self.subject = subject
        self.cursor = cursor
        isLong = subject.count > Self.longest
    }

    /// Changes the keys that it names.
    mutating func adjust(add: [CacheKey: String], drop: [CacheKey]) {
        guard case .named(var urls) = subject else { return }
        // The dictionary is held once in the meantime, so that it is not copied.
        subject = .everything
        for key in drop {
            urls[key] = nil
            unreported.remove(key)
        }
        urls.merge(add) { $1 }
        subject = .named(urls)
        isLong = isLong || add.count > Self.longest
    }

    /// Whether a change of any key can concern it, so that it reads the change log.
    var isOfAllKeys: Bool {
        guard case .named = subject else { return true }
        return false
    }

    /// The number of keys that it names.
    var count: Int { subject.count }

    /// The URL under which a key is reported.
    func url(of key: CacheKey) -> String? {
        guard case .named(let urls) = subject else { return nil }
        return urls[key]
    }

    /// Keys have changed and cannot be reported now.
    mutating func missed(_ keys: some Sequence<CacheKey>) {
        unreported.formUnion(keys)
    }

    /// Everything up to this position in the change log has been reported.
    mutating func reported(upTo cursor: ChangeLog.Cursor) {
        self.cursor = cursor
    }

    /// These downloads are in progress, and are reported as the state at the beginning.
    mutating func begin(with keys: [CacheKey]) {
        reportedDownloads = Dictionary(
            keys.map { ($0, nil) }, uniquingKeysWith: { first, _ in first })
    }

    /// The changes that concern it.
    mutating func news(in changes: [EncodedChange]) -> [EncodedChange] {
        guard case .downloads = subject else { return changes }
        return changes.filter { change in
            if let isQueued = change.isQueued {
                return reportedDownloads.updateValue(isQueued, forKey: change.key) != isQueued
            }
            // A download that failed at once has never been reported as in progress.
            return reportedDownloads.removeValue(forKey: change.key) != nil || change.hasFailed
        }
    }

    /// Whether all changes before this position in the change log have been reported.
    func isUpToDate(at cursor: ChangeLog.Cursor) -> Bool {
        unreported.isEmpty && (!isOfAllKeys || self.cursor == cursor)
    }

    /// Takes the next keys to report, and counts them as reported. `nil` if it has fallen behind the change log.
    mutating func takeUnreported(from log: ChangeLog) -> [CacheKey]? {
        let keys = Array(unreported.prefix(Self.batch))
        if !keys.isEmpty {
            unreported.subtract(keys)
            return keys
        }
        guard isOfAllKeys else { return [] }
        guard let (keys, cursor) = log.read(after: cursor, limit: Self.batch) else { return nil }
        self.cursor = cursor
        return keys
    }

    /// Takes over from another subscription of the same client, with the changes that one has not reported. A
    /// subscription to named keys needs none of them: its state at the beginning contains them.
    mutating func succeed(_ other: Subscription) {
        guard isOfAllKeys else { return }
        unreported = other.unreported
        if other.isOfAllKeys { cursor = other.cursor }
    }
}
