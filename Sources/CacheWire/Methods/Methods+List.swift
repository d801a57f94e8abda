extension Methods {
    /// Lists the entries, page by page.
    public enum List: Method {
        public static let name = MethodName.list

        public struct Parameters: Codable, Sendable, Hashable {
            /// The default is `recency`.
            public var order: ListOrder?
            /// The most items to return. The daemon can return fewer.
            public var limit: Int?
            /// The `after` of the previous page's reply.
            public var after: String?

            /// Whether to reverse the order.
            public var reverse: Bool?

            public init(
                order: ListOrder? = nil,
                limit: Int? = nil,
                after: String? = nil,
                reverse: Bool? = nil
            ) {
                self.order = order
                self.limit = limit
                self.after = after
                self.reverse = reverse
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// The items of the page.
            public var items: [Item]
            /// The position after this page; absent on the last page.
            public var after: String?

            public init(items: [Item], after: String? = nil) {
                self.items = items
                self.after = after
            }
        }
    }
}
