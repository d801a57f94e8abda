// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Describes the service.
    public enum GetInfo: Method {
        public static let name = MethodName.getInfo

        public typealias Parameters = NoParameters

        public struct Reply: WireValue {
            /// The maker of the service.
            public var vendor: String
            /// The name of the service.
            public var product: String
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

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("vendor", vendor)
                    json.member("product", product)
                    json.member("version", version)
                    json.member("url", url)
                    json.member("interfaces", interfaces)
                }
            }
        }
    }
}
