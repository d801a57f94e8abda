extension Methods {
    /// Walks the entries, a page at a time.
    public enum List: Method {
        public static let name = MethodName.list

        public struct Parameters: Codable, Sendable, Hashable {
            /// Absent: recency.
            public var order: ListOrder?
            /// How many items at most; the daemon may send fewer.
            public var limit: Int?
            /// Where the page before ended: what its reply said.
            public var after: String?

            /// `true`: from the other end of the order.
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
            /// The page.
            public var items: [Item]
            /// Where this page ended; absent on the last.
            public var after: String?

            public init(items: [Item], after: String? = nil) {
                self.items = items
                self.after = after
            }
        }
    }
}
