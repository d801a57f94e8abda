// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Removes entries and cancels their downloads: by URL, by prefix, of an account, or all.
    public enum Remove: Method {
        public static let name = MethodName.remove

        public struct Parameters: WireValue {
            /// The URLs to remove, pinned or not.
            public var urls: [String]?
            /// Removes all entries whose URL starts with these bytes. Pinned entries are kept.
            public var prefix: String?
            /// Removes all entries of this account, pinned or not: those whose URL has #as=NAME.
            public var account: String?
            /// Whether to remove all entries. Pinned entries are kept.
            public var all: Bool?
            /// Only with urls: whether to delete the images from the store too, if there is one that
            /// may be written to. Other machines keep theirs until they are stale.
            public var store: Bool?

            public init(
                urls: [String]? = nil,
                prefix: String? = nil,
                account: String? = nil,
                all: Bool? = nil,
                store: Bool? = nil
            ) {
                self.urls = urls
                self.prefix = prefix
                self.account = account
                self.all = all
                self.store = store
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("prefix", prefix)
                    json.member("account", account)
                    json.member("all", all)
                    json.member("store", store)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case prefix
                case account
                case all
                case store
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decodeIfPresent([String].self, forKey: .urls)
                prefix = try members.decodeIfPresent(String.self, forKey: .prefix)
                account = try members.decodeIfPresent(String.self, forKey: .account)
                all = try members.decodeIfPresent(Bool.self, forKey: .all)
                store = try members.decodeIfPresent(Bool.self, forKey: .store)
            }
        }

        public typealias Reply = RemovedEntries
    }
}
