import CacheWire

/// Which entries a page lists, and in which order.
struct ListQuery {
    /// The number of items that the first answer has.
    let first: Int
    /// Whether the images of a host stand together, the newest first.
    let isByHost: Bool
    private(set) var parameters: Methods.List.Parameters

    init(_ query: Query) throws(Refusal) {
        let limit = query["limit"].map { Int($0) } ?? 100
        guard let limit, (1...500).contains(limit) else { throw .query }
        first = limit
        isByHost = query["order"] == "host"
        let (order, isReversed) = try Self.order(isByHost ? "newest" : query["order"] ?? "newest")
        parameters = .init(order: order, reverse: isReversed ? true : nil)
        // The page makes smaller images of all that it shows.
        parameters.originals = true
        parameters.prefix = query["prefix"]
        parameters.host = query["host"]
        parameters.contains = query["contains"]
        parameters.mediaType = query["type"]
        if let word = query["state"] {
            guard let state = ListState(rawValue: word) else { throw .query }
            parameters.state = state
        }
    }

    private static func order(
        _ word: String
    ) throws(Refusal) -> (order: ListOrder, isReversed: Bool) {
        switch word {
        case "newest": (.age, true)
        case "oldest": (.age, false)
        case "used": (.recency, false)
        case "unused": (.recency, true)
        case "largest": (.size, false)
        case "smallest": (.size, true)
        default: throw .query
        }
    }
}

extension Range<Int> {
    /// The positions that a request names by `from` and `count`.
    init(_ query: Query) throws(Refusal) {
        guard let from = query["from"].flatMap({ Int($0) }), (0..<(1 << 32)).contains(from),
            let count = query["count"].flatMap({ Int($0) }), (1...500).contains(count)
        else { throw .query }
        self = from..<(from + count)
    }
}
