/// Parameters that are one item for each URL, and nothing else.
protocol ItemList: Codable, Sendable, Hashable {
    init(items: [Item])
}

extension Methods.Status.Reply: ItemList {}
extension Methods.Fetch.Reply: ItemList {}
