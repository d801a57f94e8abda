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
            /// The times and sizes of downloads since the start. The end of each name is the unit:
            /// firstByteSeconds, downloadSeconds, publishSeconds, imageBytes.
            public var histograms: [String: Histogram]?
            /// The downloads that failed since the start, by the kind of the failure.
            public var failures: [String: Int]?
            /// The users who have connections or downloads now, in the order of their numbers.
            public var users: [UserShare]?

            public init(
                stats: [String: JSONValue],
                histograms: [String: Histogram]? = nil,
                failures: [String: Int]? = nil,
                users: [UserShare]? = nil
            ) {
                self.stats = stats
                self.histograms = histograms
                self.failures = failures
                self.users = users
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("stats", stats)
                    json.member("histograms", histograms)
                    json.member("failures", failures)
                    json.member("users", users)
                }
            }
        }
    }
}
