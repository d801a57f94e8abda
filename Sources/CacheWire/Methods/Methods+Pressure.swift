extension Methods {
    /// Makes the daemon react as if the machine were short of memory.
    public enum Pressure: Method {
        public static let name = MethodName.pressure

        public struct Parameters: Codable, Sendable, Hashable {
            /// The severity.
            public var level: PressureLevel

            public init(level: PressureLevel) {
                self.level = level
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// The number of removed entries.
            public var entries: Int
            /// The size of their files in bytes.
            public var bytes: Int
            /// Why some entries could not be removed.
            public var failure: Failure?

            public init(entries: Int, bytes: Int, failure: Failure? = nil) {
                self.entries = entries
                self.bytes = bytes
                self.failure = failure
            }
        }
    }
}
