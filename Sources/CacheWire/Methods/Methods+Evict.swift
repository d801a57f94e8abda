extension Methods {
    /// Evicts the least recently used entries until the cache fits a size.
    public enum Evict: Method {
        public static let name = MethodName.evict

        public struct Parameters: Codable, Sendable, Hashable {
            /// The size in bytes.
            public var toBytes: Int

            public init(toBytes: Int) {
                self.toBytes = toBytes
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// The number of removed entries.
            public var entries: Int
            /// The size of their files in bytes.
            public var bytes: Int
            /// Why some entries could not be removed.
            public var failure: Failure?

            public init(entries: Int, bytes: Int, failure: Failure? = nil) {
                self.entries = entries
                self.bytes = bytes
                self.failure = failure
            }
        }
    }
}
