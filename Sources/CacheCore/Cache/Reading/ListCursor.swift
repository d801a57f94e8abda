internal import CacheKey
public import CacheValues

/// The position of an entry in a listing. The cursor of the last entry on a page leads to the next page.
public struct ListCursor: Hashable, Comparable, Sendable, LosslessStringConvertible {
    public let order: ListOrder
    /// The number that the entries are sorted by.
    private let rank: Int64
    let key: CacheKey

    public init(_ entry: ListedEntry, in order: ListOrder) {
        self.order = order
        key = entry.key
        switch order {
        case .recency: rank = entry.facts.lastUsedAt.nanoseconds
        case .size: rank = entry.facts.size
        case .age: rank = -Int64(entry.facts.fetchedAt.rawValue)
        }
    }

    /// Parses a `description`; `nil` for any other text.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let order = ListOrder(rawValue: String(parts[0])),
            let rank = Int64(parts[1]), let key = CacheKey(String(parts[2]))
        else { return nil }
        self.order = order
        self.rank = rank
        self.key = key
    }

    public var description: String { "\(order.rawValue)/\(rank)/\(key)" }

    /// Compares two cursors of the same order.
    public static func < (left: ListCursor, right: ListCursor) -> Bool {
        (left.rank, left.key) < (right.rank, right.key)
    }
}
