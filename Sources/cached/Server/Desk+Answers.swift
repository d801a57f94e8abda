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
    ///   - outcome: the end of a fetch; its failures belong to the items, also where an entry is left
    ///     that could not be refreshed.
    ///   - digest: the only bytes that will do; others make the item a failure.
    func write(
        _ targets: [Target], details: Bool = false, continues: Bool = false,
        outcome: Outcome? = nil, digest: ContentDigest? = nil, to output: inout ByteBuffer
    ) {
        var lookups = cache.lookup(targets.compactMap { $0.valid?.key }).makeIterator()
        replies.writeItems(of: targets, continues: continues, to: &output) { target, output in
            target.text.withUTF8Bytes { text in
                switch target.wish {
                case .failure(let problem):
                    replies.items.write(invalid: text, problem, to: &output)
                case .success(let wish):
                    let known = lookups.next() ?? .missing(nil)
                    let lookup = checked(wish.key, known, digest)
                    replies.items.write(
                        url: text, wish.key, lookup,
                        details: details ? self.details(wish.key, lookup) : nil,
                        failure: outcome?.failures[wish.key], to: &output)
                }
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
        return Methods.Stats.Reply(stats: [
            "version": .string(Version.current),
            "directory": .string(facts.directory),
            "socket": .string(facts.socket),
            "curlVersion": .string(facts.curlVersion),
            "uptimeSeconds": .int(Int(UnixTime.now.rawValue) - Int(facts.startedAt.rawValue)),
            "entries": .int(figures.entries),
            "bytesUsed": .int(Int(figures.bytesUsed)),
            "isIndexed": .bool(figures.isWhole),
            "transfersRunning": .int(figures.transfersRunning),
            "transfersQueued": .int(figures.transfersQueued),
            "hits": .int(figures.hits),
            "misses": .int(figures.misses),
            "joined": .int(figures.joined),
            "published": .int(figures.published),
            "failed": .int(figures.failed),
            "removed": .int(figures.removed),
            "bytesReceived": .int(Int(figures.bytesReceived)),
        ])
    }
}

extension CacheCore.Failure {
    static func otherBytes(_ found: ContentDigest?) -> CacheCore.Failure {
        CacheCore.Failure(
            .digestMismatch,
            "the image has another SHA-256 than asked for: \(found?.description ?? "unknown")")
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

extension InterfaceDescription {
    /// All interfaces on the socket.
    static let served = [serviceName, cacheName]
}
