/// The parameters of a reply that has one item for each URL, and no other field.
protocol ItemList: Codable, Sendable, Hashable {
    init(items: [Item])
}

extension Methods.Status.Reply: ItemList {}
extension Methods.Fetch.Reply: ItemList {}
