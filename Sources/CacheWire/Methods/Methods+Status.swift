extension Methods {
    /// Says what the cache knows; never starts a download, never touches recency.
    public enum Status: Method {
        public static let name = MethodName.status

        public struct Parameters: Codable, Sendable, Hashable {
            /// In any order, repeated or not; the items come in the same order.
            public var urls: [String]
            /// Reads digest, times and pin from the files' attributes too.
            public var details: Bool?

            public init(urls: [String], details: Bool? = nil) {
                self.urls = urls
                self.details = details
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
