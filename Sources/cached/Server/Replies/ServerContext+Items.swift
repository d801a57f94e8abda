import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import NIOCore

/// Replies that contain one item for each URL of a call.
extension ServerContext {
    /// Writes a reply with one item for each URL, in order.
    ///
    /// - Parameters:
    ///   - withDetails: adds what the files' attributes say; this reads the files.
    ///   - isEnd: all downloads have ended. A URL that is missing for no known reason has been cached and is gone
    ///     again; the history says why. A cached entry is good, even if the origin could not be asked about it.
    ///   - mayReadFiles: whether the history can be read, which is a file.
    ///   - failures: why a call failed for some keys. They are shown even if an entry is cached, as one that could
    ///     not be refreshed.
    ///   - digest: an entry with another digest is reported as a failure.
    ///   - removed: the removed keys in a reply to `Watch`.
    ///   - withPin: adds whether an entry is pinned.
    /// - Returns: `false` if nothing was written, because a file has to be read.
    @discardableResult
    func writeItems(
        _ urls: some Collection<RequestedURL>, _ view: LookupView = .newest,
        withDetails: Bool = false, continues: Bool = false, isEnd: Bool = false,
        mayReadFiles: Bool = true,
        failures: [CacheKey: CacheValues.Failure] = [:], digest: ContentDigest? = nil,
        removed: [CacheKey]? = nil, withPin: Bool = false,
        to output: inout ByteBuffer
    ) -> Bool {
        let keys = urls.compactMap(\.key)
        let found = cache.lookup(keys, view)
        let lost =
            isEnd ? zip(keys, found).filter { $1.atTheEnd == .missing(nil) }.map(\.0) : []
        guard lost.isEmpty || mayReadFiles else { return false }
        let gone = whyGone(lost)
        var lookups = found.makeIterator()
        replies.writeItems(
            of: urls, continues: continues, removed: removed, to: &output
        ) { url, output in
            url.text.withUTF8Bytes { text in
                switch (url.meaning, url.key) {
                case (.nothing(let failure), _):
                    replies.items.write(unknown: text, failure, to: &output)
                case (_, let key?):
                    let found = lookups.next() ?? .missing(nil)
                    let lookup = checked(key, isEnd ? found.atTheEnd : found, digest)
                    replies.items.write(
                        url: text, key, lookup,
                        details: withDetails ? details(key, lookup) : nil,
                        standIn: withDetails ? standIn(for: url, lookup) : nil,
                        failure: failures[key] ?? (lookup == .missing(nil) ? gone[key] : nil),
                        partial: partial(key, found),
                        withPin: withPin, to: &output)
                case (_, nil): break
                }
            }
        }
        return true
    }

    /// A failure in the place of an entry that has another digest than the caller asked for.
    private func checked(
        _ key: CacheKey, _ lookup: Lookup, _ digest: ContentDigest?
    ) -> Lookup {
        guard case .cached = lookup, let digest else { return lookup }
        let found = cache.details(of: key).sha256
        return found == digest ? lookup : .missing(.otherDigest(found))
    }

    /// Why images are missing again that were cached.
    private func whyGone(_ lost: [CacheKey]) -> [CacheKey: CacheValues.Failure] {
        guard !lost.isEmpty else { return [:] }
        let keys = Set(lost)
        let query = HistoryQuery(keys: keys, kinds: [.evicted, .removed])
        let causes = Dictionary(
            cache.events(query).map { ($0.key, $0.reason) }, uniquingKeysWith: { $1 })
        return Dictionary(uniqueKeysWithValues: keys.map { ($0, .goneAgain(causes[$0] ?? nil)) })
    }

    /// The bytes of an interrupted download of an image that is missing.
    func partial(_ key: CacheKey, _ lookup: Lookup) -> RestingPartial? {
        guard case .missing = lookup else { return nil }
        return cache.restingPartial(of: key)
    }

    /// The path of the largest smaller image with the same original, if the image itself is not cached.
    private func standIn(for url: RequestedURL, _ lookup: Lookup) -> String? {
        guard let name = url.valid?.name, !lookup.isCached else { return nil }
        let keys = CacheURL.sides.filter { $0 < name.side ?? .max }.reversed()
            .compactMap { try? name.derived(side: $0) }.map { CacheKey($0) }
        let found = zip(keys, cache.lookup(keys)).first { $1.isCached }
        return found.map { cache.path(of: $0.0) }
    }

    private func details(_ key: CacheKey, _ lookup: Lookup) -> EntryDetails? {
        guard case .cached = lookup else { return nil }
        return cache.details(of: key, withOrigin: true)
    }
}

extension CacheValues.Failure {
    fileprivate static func goneAgain(_ reason: HistoryEvent.Reason?) -> CacheValues.Failure {
        let cause =
            switch reason {
            case .budget:
                "evicted: the cache is too small for everything requested at once (--max-bytes, --max-entries)"
            case .diskSpace:
                "evicted: the free disk space is too small for everything requested at once (--min-free)"
            case .pressure: "evicted: memory is short, or a request said so (--pressure-evicts)"
            case .requested, .cancelled: "removed or evicted at the request of a user"
            case .notStored: "removed: the server forbids keeping it (no-store)"
            case .outside: "removed or replaced by another program"
            case .unused, .gone, .store, nil: "evicted or removed"
            }
        return CacheValues.Failure(
            .removed,
            "the image was downloaded, and before it could be reported it was \(cause)")
    }

    fileprivate static func otherDigest(_ found: ContentDigest?) -> CacheValues.Failure {
        CacheValues.Failure(
            .digestMismatch,
            "the image has the SHA-256 \(found?.description ?? "unknown"), not the requested one")
    }
}

extension Lookup {
    /// The result of a finished `Fetch`: without a failure to refresh the entry, and without a download that
    /// another caller has begun since.
    fileprivate var atTheEnd: Lookup {
        switch self {
        case .cached(let facts, _, _): .cached(facts)
        case .inFlight: .missing(nil)
        case .missing: self
        }
    }
}
