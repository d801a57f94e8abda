extension Methods {
    /// Returns the state of URLs. It never starts a download and does not count as a use.
    public enum Status: Method {
        public static let name = MethodName.status

        public struct Parameters: Codable, Sendable, Hashable {
            /// In any order and with repetitions. The items of the reply have the same order.
            public var urls: [String]
            /// Whether to read the digest, times and pin from the files' attributes too.
            public var details: Bool?

            public init(urls: [String], details: Bool? = nil) {
                self.urls = urls
                self.details = details
            }
        }

        public typealias Reply = ItemList
    }
}
