extension Methods {
    /// Reads every entry and compares it with what was fetched. What is damaged is missing from then on.
    ///
    /// With `more` there are replies that say how far it is, without items. It ends with its caller.
    public enum Verify: Method {
        public static let name = MethodName.verify

        public struct Parameters: Codable, Sendable, Hashable {
            /// `true`: damaged entries are downloaded anew, or removed where the URL is not known.
            public var repair: Bool?

            public init(repair: Bool? = nil) {
                self.repair = repair
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// How many entries were compared.
            public var checked: Int
            /// Those that do not agree, the first 10,000: cached if downloaded anew, missing if
            /// removed, and with a failure if they are left.
            public var damaged: [Item]
            /// How many entries there were at the beginning.
            public var total: Int?
            /// How many do not agree.
            public var damagedCount: Int?
            /// How many of these are left as they are.
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
