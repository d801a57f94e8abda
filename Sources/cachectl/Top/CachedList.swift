import CacheWire

/// The cached images that `top` has read so far, page by page. Pure.
struct CachedList: Hashable {
    private(set) var order = CachedOrder.newest
    private(set) var items: [Item] = []
    /// The position after the last page; `nil` if there are no more pages.
    private var after: String?
    private var isLoading = false

    /// A request for a page.
    struct PageRequest: Hashable {
        var order: CachedOrder
        var limit: Int
        var after: String?
    }

    private static let pageSize = 200
    /// The most items that the daemon returns in one call. A longer list is not reloaded, so that
    /// its rows stay as they were read.
    private static let callLimit = 1000

    /// Starts with the first page of an order.
    mutating func begin(_ order: CachedOrder) -> PageRequest {
        self = CachedList()
        self.order = order
        isLoading = true
        return PageRequest(order: order, limit: Self.pageSize)
    }

    /// Whether all pages were read.
    var isComplete: Bool { after == nil && !isLoading }

    /// The next page to request when `seen` rows were shown; `nil` while enough rows are loaded.
    mutating func nextPage(seen: Int, isJumpingToEnd: Bool = false) -> PageRequest? {
        guard let after, !isLoading, seen + Self.pageSize / 2 > items.count else { return nil }
        isLoading = true
        return PageRequest(
            order: order, limit: isJumpingToEnd ? Self.callLimit : Self.pageSize, after: after)
    }

    /// Requests all rows up to the last one shown and a page beyond it, because the list has
    /// changed. New rows can appear anywhere.
    mutating func reload(seen: Int) -> PageRequest? {
        guard !isLoading, seen <= Self.callLimit else { return nil }
        isLoading = true
        return PageRequest(order: order, limit: min(Self.callLimit, seen + Self.pageSize))
    }

    mutating func arrived(_ page: PageRequest, _ reply: Methods.List.Reply) {
        // The order has changed since this page was requested.
        guard page.order == order else { return }
        isLoading = false
        let known = Dictionary(items.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let updates = reply.items.map { $0.keepingRefresh(of: known[$0.key]) }
        items = page.after == nil ? updates : items + updates
        after = reply.items.isEmpty ? nil : reply.after
    }

    /// The current position of a row of the previous list. If that row is gone, the position of the
    /// next row that remains.
    func position(of row: Int, in before: CachedList) -> Int {
        guard before.items.indices.contains(row) else { return row }
        if items.indices.contains(row), items[row].key == before.items[row].key { return row }
        let positions = Dictionary(
            items.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        return before.items[row...].lazy.compactMap { positions[$0.key] }.first ?? row
    }

    /// Applies changes to some of the items.
    mutating func changed(_ changed: [Item], removed: [String]) {
        let updates = Dictionary(changed.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        let removedKeys = Set(removed).union(
            changed.lazy.filter { $0.state == .missing }.map(\.key))
        items.removeAll { removedKeys.contains($0.key) }
        for index in items.indices {
            guard let item = updates[items[index].key], item.state == .cached else { continue }
            items[index] = item.withDetails(of: items[index])
        }
    }
}

extension Item {
    /// Copies the progress of a refresh from the known item, because `List` does not report it.
    fileprivate func keepingRefresh(of known: Item?) -> Item {
        var item = self
        item.phase = known?.phase
        item.received = known?.received
        item.total = known?.total
        item.percent = known?.percent
        return item
    }

    /// Copies details from the known item that this item lacks.
    fileprivate func withDetails(of known: Item) -> Item {
        var item = self
        item.fetchedAt = item.fetchedAt ?? known.fetchedAt
        item.lastUsedAt = item.lastUsedAt ?? known.lastUsedAt
        item.pinned = item.pinned ?? known.pinned
        return item
    }
}
