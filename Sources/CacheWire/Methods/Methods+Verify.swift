extension Methods {
    /// Reads every entry and compares it with the recorded digest. A damaged entry becomes missing.
    ///
    /// With `more`, further replies report the progress, without items. The verification stops if
    /// its caller disconnects.
    public enum Verify: Method {
        public static let name = MethodName.verify

        public struct Parameters: Codable, Sendable, Hashable {
            /// Whether to download damaged entries again, or remove them if the URL is unknown.
            public var repair: Bool?

            public init(repair: Bool? = nil) {
                self.repair = repair
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// The number of compared entries.
            public var checked: Int
            /// The first 10,000 damaged entries: cached if downloaded again, missing if removed,
            /// and with a failure if not repaired.
            public var damaged: [Item]
            /// The number of entries at the start.
            public var total: Int?
            /// The number of damaged entries.
            public var damagedCount: Int?
            /// The number of damaged entries that were not repaired.
            public var leftCount: Int?
            /// Why the entries could not be read.
            public var failure: Failure?

            public init(
                checked: Int, damaged: [Item], total: Int? = nil, damagedCount: Int? = nil,
                leftCount: Int? = nil, failure: Failure? = nil
            ) {
                self.checked = checked
                self.damaged = damaged
                self.total = total
                self.damagedCount = damagedCount
                self.leftCount = leftCount
                self.failure = failure
            }
        }
    }
}
