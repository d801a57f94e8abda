extension Methods {
    /// Counters and gauges.
    public enum Stats: Method {
        public static let name = MethodName.stats

        public struct Parameters: Codable, Sendable, Hashable {
            public init() {}
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// One flat object with the units in the names: entries, bytesUsed, bytesBudget, …
            public var stats: [String: JSONValue]

            public init(stats: [String: JSONValue]) {
                self.stats = stats
            }
        }
    }
}
