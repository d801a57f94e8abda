import CacheWire

/// What is cached, as much of it as was looked at, page after page. Pure.
struct CachedList: Hashable {
    private(set) var order = CachedOrder.newest
    private(set) var items: [Item] = []
    /// Where the next page begins; `nil` when there is none.
    private var after: String?
    private var isLoading = false

    /// A page as it is asked for.
    struct PageRequest: Hashable {
        var order: CachedOrder
        var limit: Int
        var after: String?
    }

    private static let pageSize = 200
    /// What the daemon gives at once. Who looks farther down sees the list as it was read.
    private static let callLimit = 1000

    /// The first page of an order.
    mutating func begin(_ order: CachedOrder) -> PageRequest {
        self = CachedList()
        self.order = order
        isLoading = true
        return PageRequest(order: order, limit: Self.pageSize)
    }

    /// Whether there is nothing that was not read.
    var isComplete: Bool { after == nil && !isLoading }

    /// The page to ask for when so many rows were seen; `nil` while there is enough.
    mutating func nextPage(seen: Int, isJumpingToEnd: Bool = false) -> PageRequest? {
        guard let after, !isLoading, seen + Self.pageSize / 2 > items.count else { return nil }
        isLoading = true
        return PageRequest(
            order: order, limit: isJumpingToEnd ? Self.callLimit : Self.pageSize, after: after)
    }

    /// All down to the last row seen once more, because something has changed, and a page beyond it:
    /// what is new may stand before it.
    mutating func reload(seen: Int) -> PageRequest? {
        guard !isLoading, seen <= Self.callLimit else { return nil }
        isLoading = true
        return PageRequest(order: order, limit: min(Self.callLimit, seen + Self.pageSize))
    }

    mutating func arrived(_ page: PageRequest, _ reply: Methods.List.Reply) {
        // Somebody has chosen another order meanwhile.
        guard page.order == order else { return }
        isLoading = false
        let known = Dictionary(items.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let news = reply.items.map { $0.keepingRefresh(of: known[$0.key]) }
        items = page.after == nil ? news : items + news
        after = reply.items.isEmpty ? nil : reply.after
    }

    /// Where a row of the list before stands now, or the next behind it that is still there.
    func position(of row: Int, in before: CachedList) -> Int {
        guard before.items.indices.contains(row) else { return row }
        if items.indices.contains(row), items[row].key == before.items[row].key { return row }
        let positions = Dictionary(
            items.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        return before.items[row...].lazy.compactMap { positions[$0.key] }.first ?? row
    }

    /// Takes in what was said about some of them.
    mutating func changed(_ changed: [Item], removed: [String]) {
        let news = Dictionary(changed.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let gone = Set(removed).union(changed.lazy.filter { $0.state == .missing }.map(\.key))
        items.removeAll { gone.contains($0.key) }
        for index in items.indices {
            guard let item = news[items[index].key], item.state == .cached else { continue }
            items[index] = item.withDetails(of: items[index])
        }
    }
}

extension Item {
    /// The item with how far its next version is, which lists do not tell.
    fileprivate func keepingRefresh(of known: Item?) -> Item {
        var item = self
        item.phase = known?.phase
        item.received = known?.received
        item.total = known?.total
        item.percent = known?.percent
        return item
    }

    /// The item with what only attributes tell, where it does not say it itself.
    fileprivate func withDetails(of known: Item) -> Item {
        var item = self
        item.fetchedAt = item.fetchedAt ?? known.fetchedAt
        item.lastUsedAt = item.lastUsedAt ?? known.lastUsedAt
        item.pinned = item.pinned ?? known.pinned
        return item
    }
}
