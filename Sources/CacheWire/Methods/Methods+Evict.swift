extension Methods {
    /// Evicts until the cache holds no more than so many bytes.
    public enum Evict: Method {
        public static let name = MethodName.evict

        public struct Parameters: Codable, Sendable, Hashable {
            /// What may stay, in bytes.
            public var toBytes: Int

            public init(toBytes: Int) {
                self.toBytes = toBytes
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// How many entries went.
            public var entries: Int
            /// What their files held, in bytes.
            public var bytes: Int
            /// Why some stayed that were to go.
            public var failure: Failure?

            public init(entries: Int, bytes: Int, failure: Failure? = nil) {
                self.entries = entries
                self.bytes = bytes
                self.failure = failure
            }
        }
    }
}
