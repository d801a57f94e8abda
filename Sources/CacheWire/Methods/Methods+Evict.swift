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

        public typealias Reply = RemovedEntries
    }
}
