extension Methods {
    /// Returns the description of an interface (org.varlink.service).
    public enum GetInterfaceDescription: Method {
        public static let name = MethodName.getInterfaceDescription

        public struct Parameters: Codable, Sendable, Hashable {
            /// The name of the interface.
            public var interface: String

            public init(interface: String) {
                self.interface = interface
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// The text of the description, including comments.
            public var description: String

            public init(description: String) {
                self.description = description
            }
        }
    }
}
