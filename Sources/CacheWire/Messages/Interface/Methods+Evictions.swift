// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Returns the evictions of the last time, the newest last. If many entries are evicted at
    /// once, it has some of them.
    public enum Evictions: Method {
        public static let name = MethodName.evictions

        public typealias Parameters = NoParameters

        public struct Reply: WireValue {
            public var evictions: [EvictedEntry]

            public init(
                evictions: [EvictedEntry]
            ) {
                self.evictions = evictions
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("evictions", evictions)
                }
            }
        }
    }
}
