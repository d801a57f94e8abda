extension Methods {
    /// Says who answers (org.varlink.service).
    public enum GetInfo: Method {
        public static let name = MethodName.getInfo

        public struct Parameters: Codable, Sendable, Hashable {
            public init() {}
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// Who made it.
            public var vendor: String
            /// What it is.
            public var product: String
            /// See ``Version``.
            public var version: String
            /// Where to read about it.
            public var url: String
            /// The interfaces served.
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
