extension Methods {
    /// Downloads what is missing, joining a download already under way.
    ///
    /// With `more` the first reply holds all items, further ones what changed, the last all again.
    public enum Fetch: Method {
        public static let name = MethodName.fetch

        public struct Parameters: Codable, Sendable, Hashable {
            /// In any order, repeated or not; the items come in the same order.
            public var urls: [String]
            /// Absent: normal.
            public var priority: Priority?
            /// Asks the origin even where the entry is still fresh.
            public var refresh: Bool?
            /// `false`: answers at once, and the daemon holds the interest by itself.
            public var wait: Bool?
            /// What the bytes of every URL must hash to, 64 hexadecimal digits.
            public var sha256: String?

            public init(
                urls: [String],
                priority: Priority? = nil,
                refresh: Bool? = nil,
                wait: Bool? = nil,
                sha256: String? = nil
            ) {
                self.urls = urls
                self.priority = priority
                self.refresh = refresh
                self.wait = wait
                self.sha256 = sha256
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
