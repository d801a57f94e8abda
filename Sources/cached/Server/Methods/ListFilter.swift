import CacheCore
import CacheKey
import CacheModel
import CacheValues
import CacheWire
import ImageFormats

/// The images that a `List` contains.
struct ListFilter: Sendable {
    let state: ListState
    private let prefix: String?
    /// In lower case.
    private let host: String?
    private let contained: CaselessText?
    private let account: String?
    private let mediaType: String?
    private let sha256: String?
    private let originals: Bool

    init(_ parameters: Methods.List.Parameters) {
        state = parameters.state ?? .cached
        prefix = parameters.prefix
        host = parameters.host?.lowercased()
        account = parameters.account
        contained = parameters.contains.map { CaselessText($0) }
        mediaType = parameters.mediaType
        sha256 = parameters.sha256
        originals = parameters.originals ?? false
    }

    /// Whether the attributes of an entry have to be read from its file.
    func needsDetails(of facts: EntryFacts) -> Bool {
        needsURL || sha256 != nil || originals && Self.canBeDerived(facts)
    }

    /// An image that was made smaller has exactly as many pixels as its URL says, and one that was small enough shares
    /// the file of its original.
    private static func canBeDerived(_ facts: EntryFacts) -> Bool {
        guard let width = facts.width, let height = facts.height else { return true }
        return facts.isLinked || CacheURL.sides.contains(max(width, height))
    }

    /// Whether the URL of an image has to be known.
    var needsURL: Bool { prefix != nil || host != nil || contained != nil || account != nil }

    /// Whether every entry is listed.
    var takesAll: Bool {
        state == .cached && !needsURL && sha256 == nil && mediaType == nil && !originals
    }

    /// Whether every download is listed.
    var takesAllDownloads: Bool { !needsURL && !originals }

    func takes(_ entry: ListedEntry, of cache: Cache, now: UnixTime) -> Bool {
        let facts = entry.facts
        if let mediaType, facts.mediaType.name != mediaType { return false }
        return switch state {
        case .cached: true
        case .fresh: !facts.isStale(at: now)
        case .stale: facts.isStale(at: now)
        case .pinned: facts.isPinned
        case .duplicates: cache.hasCopy(entry.key)
        case .inFlight: false
        }
    }

    func takes(_ details: EntryDetails?, _ key: CacheKey) -> Bool {
        guard takes(url: details?.url, key) else { return false }
        return sha256 == nil || details?.sha256?.description == sha256
    }

    /// A URL that is not known is not listed if the filter asks about it.
    func takes(url: String?, _ key: CacheKey) -> Bool {
        if originals, let url, CacheURL.side(in: url) != nil { return false }
        guard needsURL else { return true }
        if let contained, !contained.isPart(of: url ?? ""), !contained.isPart(of: key.description) {
            return false
        }
        guard let url else { return prefix == nil && host == nil && account == nil }
        if let prefix, !url.utf8.starts(with: prefix.utf8) { return false }
        if let account, CacheURL.account(in: url) != account { return false }
        guard let host else { return true }
        do {
            return try CacheURL(url).host.lowercased() == host
        } catch {
            return false
        }
    }
}
