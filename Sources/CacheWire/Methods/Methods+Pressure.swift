extension Methods {
    /// Behaves as if the machine had come under this pressure.
    public enum Pressure: Method {
        public static let name = MethodName.pressure

        public struct Parameters: Codable, Sendable, Hashable {
            /// How bad it is.
            public var level: PressureLevel

            public init(level: PressureLevel) {
                self.level = level
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// How many entries went.
            public var entries: Int
            /// What their files held, in bytes.
            public var bytes: Int
            /// Why some stayed that were to go.
            public var failure: Failure?

            public init(entries: Int, bytes: Int, failure: Failure? = nil) {
                self.entries = entries
                self.bytes = bytes
                self.failure = failure
            }
        }
    }
}
