extension Methods {
    /// Keeps entries from eviction, or no longer.
    public enum Pin: Method {
        public static let name = MethodName.pin

        public struct Parameters: Codable, Sendable, Hashable {
            /// In any order, repeated or not; the items come in the same order.
            public var urls: [String]
            /// `false` lets them be evicted again.
            public var pinned: Bool

            public init(urls: [String], pinned: Bool) {
                self.urls = urls
                self.pinned = pinned
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// One for each URL, in the order asked.
            public var items: [Item]

            public init(items: [Item]) {
                self.items = items
            }
        }
    }
}
