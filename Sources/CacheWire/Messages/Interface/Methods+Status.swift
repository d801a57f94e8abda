// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Returns the state of URLs. It never starts a download and does not count as a use.
    /// Answered from memory; with details also from the attributes of the files.
    ///
    /// Here and in Fetch, Open and Remove, sha256: and 64 hexadecimal digits in the place of a
    /// URL mean an image with this digest, whatever its URL.
    public enum Status: Method {
        public static let name = MethodName.status

        public struct Parameters: WireValue {
            /// In any order and with repetitions. The items of the reply have the same order.
            public var urls: [String]
            /// Whether to read the digest, times and pin from the files' attributes too.
            public var details: Bool?
            /// Names of files in the cache directory. Their items follow those of urls. The url of an
            /// item is empty if it is not known.
            public var keys: [String]?

            public init(
                urls: [String],
                details: Bool? = nil,
                keys: [String]? = nil
            ) {
                self.urls = urls
                self.details = details
                self.keys = keys
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("details", details)
                    json.member("keys", keys)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case details
                case keys
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decode([String].self, forKey: .urls)
                details = try members.decodeIfPresent(Bool.self, forKey: .details)
                keys = try members.decodeIfPresent([String].self, forKey: .keys)
            }
        }

        public typealias Reply = ItemList
    }
}
