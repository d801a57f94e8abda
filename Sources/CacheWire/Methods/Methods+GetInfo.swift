extension Methods {
    /// Describes the service (org.varlink.service).
    public enum GetInfo: Method {
        public static let name = MethodName.getInfo

        public typealias Parameters = NoParameters

        public struct Reply: Codable, Sendable, Hashable {
            /// The maker of the service.
            public var vendor: String
            /// The name of the service.
            public var product: String
            /// See ``Version``.
            public var version: String
            /// The address of the documentation.
            public var url: String
            /// The names of the served interfaces.
            public var interfaces: [String]

            public init(
                vendor: String,
                product: String,
                version: String,
                url: String,
                interfaces: [String]
            ) {
                self.vendor = vendor
                self.product = product
                self.version = version
                self.url = url
                self.interfaces = interfaces
            }
        }
    }
}
