import CacheCore
import CacheKey
import CacheWire

/// The images that a `List` contains.
struct ListFilter: Sendable {
    let state: ListState
    private let prefix: String?
    /// In lower case.
    private let host: String?

    init(_ parameters: Methods.List.Parameters) {
        state = parameters.state ?? .cached
        prefix = parameters.prefix
        host = parameters.host?.lowercased()
    }

    /// Whether the URL of an entry has to be known, which is read from its file.
    var needsURL: Bool { prefix != nil || host != nil }

    /// Whether every entry is listed.
    var takesAll: Bool { state == .cached && !needsURL }

    func takes(_ entry: ListedEntry, of cache: Cache, now: UnixTime) -> Bool {
        let facts = entry.facts
        return switch state {
        case .cached: true
        case .fresh: !facts.isStale(at: now)
        case .stale: facts.isStale(at: now)
        case .pinned: facts.isPinned
        case .duplicates: cache.hasCopy(entry.key)
        case .inFlight: false
        }
    }

    /// A URL that is not known is not listed if the filter asks about it.
    func takes(url: String?) -> Bool {
        guard needsURL else { return true }
        guard let url else { return false }
        if let prefix, !url.utf8.starts(with: prefix.utf8) { return false }
        guard let host else { return true }
        do {
            return try CacheURL(url).host.lowercased() == host
        } catch {
            return false
        }
    }
}
