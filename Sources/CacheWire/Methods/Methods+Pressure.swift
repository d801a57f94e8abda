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

        public typealias Reply = RemovedEntries
    }
}
