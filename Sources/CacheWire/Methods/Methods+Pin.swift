extension Methods {
    /// Protects entries from eviction, or ends the protection.
    public enum Pin: Method {
        public static let name = MethodName.pin

        public struct Parameters: Codable, Sendable, Hashable {
            /// In any order and with repetitions. The items of the reply have the same order.
            public var urls: [String]
            /// `false` ends the protection.
            public var pinned: Bool

            public init(urls: [String], pinned: Bool) {
                self.urls = urls
                self.pinned = pinned
            }
        }

        public typealias Reply = ItemList
    }
}
