// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Returns the description of an interface.
    public enum GetInterfaceDescription: Method {
        public static let name = MethodName.getInterfaceDescription

        public struct Parameters: WireValue {
            /// The name of the interface.
            public var interface: String

            public init(
                interface: String
            ) {
                self.interface = interface
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("interface", interface)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case interface
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                interface = try members.decode(String.self, forKey: .interface)
            }
        }

        public struct Reply: WireValue {
            /// The text of the description, including comments.
            public var description: String

            public init(
                description: String
            ) {
                self.description = description
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("description", description)
                }
            }
        }
    }
}
