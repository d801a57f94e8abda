import CacheCore
import CacheKey
import CacheWire
import NIOCore

/// Answers put together from what the cache says.
extension Desk {
    /// A reply with one item for each target, in order.
    ///
    /// - Parameters:
    ///   - details: adds what the files' attributes tell; reads files.
    ///   - isEnd: all of them were decided; what is missing without a reason was here, and an entry that is
    ///     there is what was asked for, whatever happened when it was asked about.
    ///   - failures: why something could not be done for some of them; they belong to the items, also where an entry is left
    ///     that could not be refreshed.
    ///   - digest: the only bytes that will do; others make the item a failure.
    ///   - removed, tellsPin: what belongs to replies to `Watch`.
    func write(
        _ targets: some Collection<Target>, _ view: LookupView = .newest, details: Bool = false,
        continues: Bool = false, isEnd: Bool = false,
        failures: [CacheKey: CacheCore.Failure] = [:], digest: ContentDigest? = nil,
        removed: [CacheKey]? = nil, tellsPin: Bool = false,
        to output: inout ByteBuffer
    ) {
        var lookups = cache.lookup(targets.compactMap { $0.valid?.key }, view).makeIterator()
        replies.writeItems(
            of: targets, continues: continues, removed: removed, to: &output
        ) { target, output in
            target.text.withUTF8Bytes { text in
                switch target.wish {
                case .failure(let problem):
                    replies.items.write(invalid: text, problem, to: &output)
                case .success(let wish):
                    let known = lookups.next() ?? .missing(nil)
                    let answer = isEnd ? known.atTheEnd : known
                    let lookup = checked(wish.key, answer, digest)
                    let gone: CacheCore.Failure? =
                        isEnd && lookup == .missing(nil) ? .goneAgain : nil
                    replies.items.write(
                        url: text, wish.key, lookup,
                        details: details ? self.details(wish.key, lookup) : nil,
                        failure: failures[wish.key] ?? gone, tellsPin: tellsPin, to: &output)
                }
            }
        }
    }

    /// The answer to the hot call: no strings, no decoder, one look into the cache for all URLs.
    func write(
        _ call: StatusCall, _ message: UnsafeRawBufferPointer, to output: inout ByteBuffer
    ) {
        let keys = call.urls.map {
            CacheKey(urlBytes: UnsafeRawBufferPointer(rebasing: message[$0]))
        }
        let lookups = cache.lookup(keys)
        let items = replies.items
        replies.writeItems(of: keys.indices, to: &output) { index, output in
            let text = UnsafeRawBufferPointer(rebasing: message[call.urls[index]])
            if let problem = CacheURL.problem(in: text) {
                items.write(invalid: text, problem, to: &output)
            } else {
                items.write(url: text, keys[index], lookups[index], to: &output)
            }
        }
    }

    /// Other bytes than those asked for are as good as none.
    private func checked(
        _ key: CacheKey, _ lookup: Lookup, _ digest: ContentDigest?
    ) -> Lookup {
        guard case .cached = lookup, let digest else { return lookup }
        let found = cache.details(of: key).sha256
        return found == digest ? lookup : .missing(.otherBytes(found))
    }

    private func details(_ key: CacheKey, _ lookup: Lookup) -> EntryDetails? {
        guard case .cached = lookup else { return nil }
        return cache.details(of: key)
    }

    /// The flat object of `Stats`: gauges, then counters since the start.
    func statistics() -> Methods.Stats.Reply {
        let figures = cache.statistics()
        let stats: [String: JSONValue] = [
            "version": .string(Version.current),
            "directory": .string(facts.directory),
            "socket": .string(facts.socket),
            "curlVersion": .string(facts.curlVersion),
            "uptimeSeconds": .int(Int((.now - facts.startedAt).components.seconds)),
            "entries": .int(figures.entries),
            "partials": .int(figures.partials),
            "bytesUsed": .int(Int(figures.bytesUsed)),
            "bytesBudget": .int(Int(figures.bytesBudget)),
            "bytesMinFree": .int(Int(figures.bytesMinimumFree)),
            "bytesAllowed": .int(Int(figures.bytesAllowed)),
            "bytesReserved": .int(Int(figures.bytesReserved)),
            "entriesPinned": .int(figures.pinned.entries),
            "bytesPinned": .int(Int(figures.pinned.bytes)),
            "isIndexed": .bool(figures.isWhole),
            "isDirectoryInPlace": .bool(figures.isDirectoryInPlace),
            "isDirectoryWritable": .bool(figures.isDirectoryWritable),
            "watchers": .int(hub.figures.watchers),
            "changesEncoded": .int(hub.figures.changesEncoded),
            "transfersRunning": .int(figures.transfersRunning),
            "transfersQueued": .int(figures.transfersQueued),
            "hits": .int(figures.hits),
            "staleAnswers": .int(figures.staleAnswers),
            "misses": .int(figures.misses),
            "joined": .int(figures.joined),
            "published": .int(figures.published),
            "revalidated": .int(figures.revalidated),
            "failed": .int(figures.failed),
            "failuresRepeated": .int(figures.failuresRepeated),
            "retried": .int(figures.retried),
            "removed": .int(figures.removed),
            "damaged": .int(figures.damaged),
            "withdrawn": .int(figures.withdrawn.entries),
            "refused": .int(figures.refused),
            "evicted": .int(figures.evicted.entries),
            "bytesEvicted": .int(Int(figures.evicted.bytes)),
            "pagesDroppedEntries": .int(figures.dropped.entries),
            "pagesDroppedBytes": .int(Int(figures.dropped.bytes)),
            "bytesReceived": .int(Int(figures.bytesReceived)),
        ]
        let pressure = relief.record.figures(source: self.pressure.source)
        return Methods.Stats.Reply(stats: stats.merging(pressure) { figure, _ in figure })
    }
}

extension CacheCore.Failure {
    static let goneAgain = CacheCore.Failure(
        .removed,
        "it arrived, and was evicted or removed before it could be reported; the cache, or what is free on "
            + "its disk, may be too little for what is asked at once (--max-bytes, --max-entries, "
            + "--min-free), or its server lets nobody keep it (no-store)")

    static func otherBytes(_ found: ContentDigest?) -> CacheCore.Failure {
        CacheCore.Failure(
            .digestMismatch,
            "the image has another SHA-256 than asked for: \(found?.description ?? "unknown")")
    }
}

extension Lookup {
    /// As the end of a wish. An entry is good although the origin could not be asked about it; what is on
    /// its way once more is so for somebody else.
    fileprivate var atTheEnd: Lookup {
        switch self {
        case .cached(let facts, _, _): .cached(facts)
        case .inFlight: .missing(nil)
        case .missing: self
        }
    }
}

extension CacheCore.Priority {
    init(_ priority: CacheWire.Priority) {
        switch priority {
        case .background: self = .background
        case .normal: self = .normal
        case .visible: self = .visible
        }
    }
}
