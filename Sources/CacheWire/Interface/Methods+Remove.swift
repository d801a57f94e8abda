// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Removes entries and cancels their downloads: by URL, by prefix, or all.
    public enum Remove: Method {
        public static let name = MethodName.remove

        public struct Parameters: WireValue {
            /// The URLs to remove, pinned or not.
            public var urls: [String]?
            /// Removes all entries whose URL starts with these bytes. Pinned entries are kept.
            public var prefix: String?
            /// Whether to remove all entries. Pinned entries are kept.
            public var all: Bool?

            public init(
                urls: [String]? = nil,
                prefix: String? = nil,
                all: Bool? = nil
            ) {
                self.urls = urls
                self.prefix = prefix
                self.all = all
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("prefix", prefix)
                    json.member("all", all)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case prefix
                case all
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decodeIfPresent([String].self, forKey: .urls)
                prefix = try members.decodeIfPresent(String.self, forKey: .prefix)
                all = try members.decodeIfPresent(Bool.self, forKey: .all)
            }
        }

        public typealias Reply = RemovedEntries
    }
}
