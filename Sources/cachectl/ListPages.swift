import CacheWire

/// The entries of the cache, read page by page until the last page or the limit.
struct ListPages {
    private let client: Client
    private let order: ListOrder
    private let isReversed: Bool
    /// How many more entries to return; `nil` for all.
    private var remaining: Int?
    private var after: String?
    private var isOver = false

    /// The most entries requested in one call.
    static let pageSize = 1000

    init(client: Client, order: ListOrder, isReversed: Bool, limit: Int?) {
        self.client = client
        self.order = order
        self.isReversed = isReversed
        remaining = limit
    }

    /// The next page; `nil` after the last one.
    mutating func next() throws(ClientError) -> [Item]? {
        guard !isOver, remaining != 0 else { return nil }
        let limit = min(remaining ?? Self.pageSize, Self.pageSize)
        let reply = try client.call(
            Methods.List.self,
            .init(order: order, limit: limit, after: after, reverse: isReversed ? true : nil))
        after = reply.after
        isOver = reply.after == nil || reply.items.isEmpty
        remaining = remaining.map { max(0, $0 - reply.items.count) }
        return reply.items
    }
}
