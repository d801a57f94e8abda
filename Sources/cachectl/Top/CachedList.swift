import CacheWire

/// The cached images that `top` has read so far, page by page. Pure.
struct CachedList: Hashable {
    private(set) var order = CachedOrder.newest
    private(set) var filter = Filter()
    private(set) var items: [Item] = []
    /// The position after the last page; `nil` if there are no more pages.
    private var after: String?
    private var isLoading = false

    /// Which images the list contains.
    struct Filter: Hashable {
        /// A part of the URL.
        var text = ""
        var host: String?

        var isEmpty: Bool { text.isEmpty && host == nil }
    }

    /// A request for a page.
    struct PageRequest: Hashable {
        var order: CachedOrder
        var limit: Int
        var after: String?
        var filter = Filter()
    }

    private static let pageSize = 200
    /// The most items that the daemon returns in one call. A longer list is not reloaded, so that
    /// its rows stay as they were read.
    private static let callLimit = 1000

    /// Starts with the first page of an order. The rows stay until it is here.
    mutating func begin(_ order: CachedOrder, _ filter: Filter = Filter()) -> PageRequest {
        (self.order, self.filter, after, isLoading) = (order, filter, nil, true)
        return request(limit: Self.pageSize)
    }

    /// The daemon of the requests has gone, and with it their replies.
    mutating func restart() -> PageRequest { begin(order, filter) }

    private func request(limit: Int, after: String? = nil) -> PageRequest {
        PageRequest(order: order, limit: limit, after: after, filter: filter)
    }

    /// Whether all pages were read.
    var isComplete: Bool { after == nil && !isLoading }

    /// The next page to request when `seen` rows were shown; `nil` while enough rows are loaded.
    mutating func nextPage(seen: Int, isJumpingToEnd: Bool = false) -> PageRequest? {
        guard let after, !isLoading, seen + Self.pageSize / 2 > items.count else { return nil }
        isLoading = true
        return request(limit: isJumpingToEnd ? Self.callLimit : Self.pageSize, after: after)
    }

    /// Requests all rows up to the last one shown and a page beyond it, because the list has
    /// changed. New rows can appear anywhere.
    mutating func reload(seen: Int) -> PageRequest? {
        guard !isLoading, seen <= Self.callLimit else { return nil }
        isLoading = true
        return request(limit: min(Self.callLimit, seen + Self.pageSize))
    }

    mutating func arrived(_ page: PageRequest, _ reply: Methods.List.Reply) {
        // The order or the filter has changed since this page was requested.
        guard page.order == order, page.filter == filter else { return }
        isLoading = false
        let known = Dictionary(items.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let updates = reply.items.map { $0.keepingRefresh(of: known[$0.key]) }
        items = page.after == nil ? updates : items + updates
        // With a filter an empty page need not be the last.
        after = reply.items.isEmpty && filter.isEmpty ? nil : reply.after
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
    func withDetails(of known: Item) -> Item {
        var item = self
        item.fetchedAt = item.fetchedAt ?? known.fetchedAt
        item.lastUsedAt = item.lastUsedAt ?? known.lastUsedAt
        item.freshUntil = item.freshUntil ?? known.freshUntil
        item.pinned = item.pinned ?? known.pinned
        return item
    }
}
