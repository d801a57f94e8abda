/// The reply of the methods that return one item for each URL: `Status`, `Fetch` and `Pin`.
public struct ItemList: Codable, Sendable, Hashable {
    /// One item for each URL, in the same order.
    public var items: [Item]

    public init(items: [Item]) {
        self.items = items
    }
}
