extension Methods {
    /// Reads every file and compares it with its digest.
    public enum Verify: Method {
        public static let name = MethodName.verify

        public struct Parameters: Codable, Sendable, Hashable {
            /// `true`: damaged entries are removed.
            public var repair: Bool?

            public init(repair: Bool? = nil) {
                self.repair = repair
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// How many files were read.
            public var checked: Int
            /// Those that do not agree.
            public var damaged: [Item]

            public init(checked: Int, damaged: [Item]) {
                self.checked = checked
                self.damaged = damaged
            }
        }
    }
}
