// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Protects entries from eviction, or ends the protection.
    public enum Pin: Method {
        public static let name = MethodName.pin

        public struct Parameters: WireValue {
            /// In any order and with repetitions. The items of the reply have the same order.
            public var urls: [String]
            /// false ends the protection.
            public var pinned: Bool

            public init(
                urls: [String],
                pinned: Bool
            ) {
                self.urls = urls
                self.pinned = pinned
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("pinned", pinned)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case pinned
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decode([String].self, forKey: .urls)
                pinned = try members.decode(Bool.self, forKey: .pinned)
            }
        }

        public typealias Reply = ItemList
    }
}
