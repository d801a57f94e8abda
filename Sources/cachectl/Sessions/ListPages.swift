import CacheWire

/// The entries of the cache, read page by page until the last page or the limit.
struct ListPages {
    private let client: Client
    /// The call without its limit and position.
    private let filter: Methods.List.Parameters
    /// How many more entries to return; `nil` for all.
    private var remaining: Int?
    private var after: String?
    private var isOver = false

    /// The most entries requested in one call.
    static let pageSize = 1000

    init(client: Client, filter: Methods.List.Parameters, limit: Int?) {
        self.client = client
        self.filter = filter
        remaining = limit
    }

    /// The next page; `nil` after the last one. With a filter, a page can be empty and not be the last.
    mutating func next() throws(ClientError) -> [Item]? {
        guard !isOver, remaining != 0 else { return nil }
        var call = filter
        call.limit = min(remaining ?? Self.pageSize, Self.pageSize)
        call.after = after
        let reply = try client.call(Methods.List.self, call)
        isOver = reply.after == nil || reply.after == after
        after = reply.after
        remaining = remaining.map { max(0, $0 - reply.items.count) }
        return reply.items
    }
}
