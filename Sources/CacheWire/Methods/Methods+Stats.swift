extension Methods {
    /// Returns the daemon's counters and gauges.
    public enum Stats: Method {
        public static let name = MethodName.stats

        public typealias Parameters = NoParameters

        public struct Reply: Codable, Sendable, Hashable {
            /// One flat object. The names contain the units: entries, bytesUsed, bytesBudget, …
            public var stats: [String: JSONValue]

            public init(stats: [String: JSONValue]) {
                self.stats = stats
            }
        }
    }
}
