import CacheCore
import CacheKey
import NIOCore

/// The state at the beginning of a `Watch`, page by page, so that the answer is bounded however much there
/// is.
struct WatchPages: Sendable {
    /// What is still to come.
    private enum Rest {
        case targets(ArraySlice<Target>)
        /// Everything: what is on its way, then the entries from a place on.
        case beginning
        case inFlight(ArraySlice<CacheKey>)
        /// What is on its way, and nothing else.
        case downloads(ArraySlice<CacheKey>)
        case entries(Int)
        case nothing
    }

    private var rest: Rest
    /// Items on a page, at most.
    static let limit = 256

    /// Of these, one item each, in order.
    init(_ targets: [Target]) {
        rest = .targets(targets[...])
    }

    /// Of these downloads.
    init(underWay keys: [CacheKey]) {
        rest = .downloads(keys[...])
    }

    private init(rest: Rest) {
        self.rest = rest
    }

    static let everything = WatchPages(rest: .beginning)

    /// Whether all of them were made.
    var isOver: Bool {
        guard case .nothing = rest else { return false }
        return true
    }

    /// Whether it is made in no time: one page, from memory.
    var isShort: Bool {
        guard case .targets(let targets) = rest else { return false }
        return targets.count <= Self.limit
    }

    /// Makes the next page; reads files where it is of everything.
    mutating func next(from desk: Desk) -> ByteBuffer {
        var page = ByteBuffer()
        switch rest {
        case .targets(let targets):
            let stretch = targets.prefix(Self.limit)
            desk.write(
                stretch, .announced, continues: true, removed: [], tellsPin: true, to: &page)
            let others = targets.dropFirst(stretch.count)
            rest = others.isEmpty ? .nothing : .targets(others)
        case .beginning:
            rest = .inFlight(desk.cache.keysInFlight()[...])
            return next(from: desk)
        case .inFlight(let keys) where keys.isEmpty:
            rest = .entries(0)
            return next(from: desk)
        case .inFlight(let keys):
            let stretch = keys.prefix(Self.limit)
            rest = .inFlight(keys.dropFirst(stretch.count))
            // What is cached already comes among the entries.
            desk.write(Array(stretch), to: &page) { !$0.isCached }
        case .downloads(let keys):
            let stretch = keys.prefix(Self.limit)
            let others = keys.dropFirst(stretch.count)
            rest = others.isEmpty ? .nothing : .downloads(others)
            desk.write(Array(stretch), to: &page) { $0.phase != nil }
        case .entries(let place):
            let (keys, next) = Self.entries(from: place, desk.cache)
            rest = next.map { .entries($0) } ?? .nothing
            desk.write(keys, to: &page) { $0.isCached }
        case .nothing:
            preconditionFailure("there is no page behind the last")
        }
        return page
    }

    /// A page of entries, and where the next begins; `nil` behind the last.
    private static func entries(from place: Int, _ cache: Cache) -> ([CacheKey], Int?) {
        var keys: [CacheKey] = []
        var place = place
        while keys.count < limit {
            let (found, hasMore) = cache.entryKeys(&place, places: limit - keys.count)
            keys += found
            guard hasMore else { return (keys, nil) }
        }
        return (keys, place)
    }
}

extension Desk {
    /// One page of what is known of keys, as far as it is wanted.
    fileprivate func write(
        _ keys: [CacheKey], to page: inout ByteBuffer, where isWanted: (Lookup) -> Bool
    ) {
        let known = zip(keys, cache.lookup(keys, .announced)).filter { isWanted($0.1) }
        let changes = replies.changes(known.map(\.0), known.map(\.1), url: cache.url)
        replies.write(changes.filter { $0.standing == .here }, continues: true, to: &page)
    }
}
