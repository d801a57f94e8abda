extension Methods {
    /// Hands out the text of an interface (org.varlink.service).
    public enum GetInterfaceDescription: Method {
        public static let name = MethodName.getInterfaceDescription

        public struct Parameters: Codable, Sendable, Hashable {
            /// Its name.
            public var interface: String

            public init(interface: String) {
                self.interface = interface
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// Its text, comments included.
            public var description: String

            public init(description: String) {
                self.description = description
            }
        }
    }
}
