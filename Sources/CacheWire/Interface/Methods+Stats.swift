// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Returns the daemon's counters and gauges.
    public enum Stats: Method {
        public static let name = MethodName.stats

        public typealias Parameters = NoParameters

        public struct Reply: WireValue {
            /// One flat object. The names contain the units: entries, bytesUsed, bytesBudget,
            /// directory, ...
            public var stats: [String: JSONValue]

            public init(
                stats: [String: JSONValue]
            ) {
                self.stats = stats
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("stats", stats)
                }
            }
        }
    }
}
