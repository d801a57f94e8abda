extension Methods {
    /// Downloads missing images. A URL that is already being downloaded joins that download.
    ///
    /// With `more`, the first reply has all items, further replies have the items that changed, and
    /// the last reply has all items again.
    public enum Fetch: Method {
        public static let name = MethodName.fetch

        public struct Parameters: Codable, Sendable, Hashable {
            /// In any order and with repetitions. The items of the reply have the same order.
            public var urls: [String]
            /// The default is `normal`.
            public var priority: Priority?
            /// Whether to ask the origin even if the entry is still fresh.
            public var refresh: Bool?
            /// `false` replies at once. The daemon continues the download on its own.
            public var wait: Bool?
            /// The expected SHA-256 of every image, as 64 hexadecimal digits.
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

        public typealias Reply = ItemList
    }
}
