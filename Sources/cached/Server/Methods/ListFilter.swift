import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import ImageFormats

/// The fields of a filter that several methods have.
protocol FilterParameters {
    var prefix: String? { get }
    var account: String? { get }
    var host: String? { get }
    var mediaType: String? { get }
    var state: ListState? { get }
    var unusedFor: Int? { get }
}

extension Methods.List.Parameters: FilterParameters {}
extension Methods.Remove.Parameters: FilterParameters {}
extension Methods.Evict.Parameters: FilterParameters {}

/// The images that a `List` contains, or that a `Remove` or an `Evict` is about.
struct ListFilter: Sendable {
    let state: ListState
    private let prefix: String?
    /// In lower case.
    private let host: String?
    private let contained: CaselessText?
    private let account: String?
    private let mediaType: String?
    private let sha256: String?
    /// The entries with that digest, once they are looked up.
    private var content: Set<CacheKey> = []
    private let originals: Bool
    /// The last use has to be before this time.
    private let usedBefore: UnixTime?

    init(
        _ parameters: some FilterParameters, contains: String? = nil, sha256: String? = nil,
        originals: Bool = false
    ) throws(WireError) {
        state = parameters.state ?? .cached
        prefix = parameters.prefix
        host = parameters.host?.lowercased()
        account = parameters.account
        contained = contains.map { CaselessText($0) }
        mediaType = parameters.mediaType
        (self.sha256, self.originals) = (sha256, originals)
        let seconds = parameters.unusedFor
        guard seconds ?? 0 >= 0 else {
            throw .invalidParameter(parameter: "unusedFor", reason: "it must not be less than 0")
        }
        usedBefore = seconds.map { UnixTime.now + -Int64($0) }
    }

    /// The filter of a call that changes entries; `nil` if it has none.
    init?(choosing parameters: some FilterParameters) throws(WireError) {
        guard [.cached, .fresh, .stale].contains(parameters.state ?? .cached) else {
            throw .invalidParameter(
                parameter: "state",
                reason: "it is cached, fresh or stale; name other images by urls")
        }
        guard parameters.prefix != "" else {
            throw .invalidParameter(
                parameter: "prefix", reason: "it is empty; leave it out, or set all")
        }
        try self.init(parameters)
        guard needsURL || needsFacts || parameters.state != nil else { return nil }
    }

    /// The same for the cache.
    func choice(in cache: Cache) -> EntryChoice {
        let now = UnixTime.now
        var choice = EntryChoice()
        if needsFacts { choice.byFacts = { takes($0, of: cache, now: now) } }
        if needsURL { choice.byURL = { takes(url: $0, $1) } }
        return choice
    }

    /// Whether nothing but an account is asked for.
    var isAccount: Bool {
        account != nil && prefix == nil && host == nil && !needsFacts
    }

    /// Looks up the entries with the digest that is asked for. Reads attributes of these alone.
    mutating func findContent(in cache: Cache) {
        guard let digest = sha256.flatMap({ ContentDigest($0) }) else { return }
        content = Set(cache.keys(of: digest))
    }

    /// Whether the attributes of an entry have to be read from its file.
    func needsDetails(of facts: EntryFacts) -> Bool {
        needsURL || originals && Self.canBeDerived(facts)
    }

    /// An image that was made smaller has exactly as many pixels as its URL says, and one that was small enough shares
    /// the file of its original.
    private static func canBeDerived(_ facts: EntryFacts) -> Bool {
        guard let width = facts.width, let height = facts.height else { return true }
        return facts.isLinked || CacheURL.sides.contains(max(width, height))
    }

    /// Whether the URL of an image has to be known.
    var needsURL: Bool { prefix != nil || host != nil || contained != nil || account != nil }

    /// Whether entries differ by what memory knows of them.
    private var needsFacts: Bool { state != .cached || mediaType != nil || usedBefore != nil }

    /// Whether every entry is listed.
    var takesAll: Bool { !needsFacts && !needsURL && sha256 == nil && !originals }

    /// Whether every download is listed.
    var takesAllDownloads: Bool { !needsURL && !originals }

    func takes(_ entry: ListedEntry, of cache: Cache, now: UnixTime) -> Bool {
        let facts = entry.facts
        if sha256 != nil, !content.contains(entry.key) { return false }
        if let mediaType, facts.mediaType.name != mediaType { return false }
        if let usedBefore, facts.lastUsedAt.unixTime >= usedBefore { return false }
        return switch state {
        case .cached: true
        case .fresh: !facts.isStale(at: now)
        case .stale: facts.isStale(at: now)
        case .pinned: facts.isPinned
        case .duplicates: cache.hasCopy(entry.key)
        case .inFlight, .failed: false
        }
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
