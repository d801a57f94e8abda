// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Removes entries and cancels their downloads: by URL, all, or those that a filter
    /// chooses. The fields of the filter are those of List, and an entry has to fit each that
    /// is given. Pinned entries are kept, unless urls or account alone names them.
    public enum Remove: Method {
        public static let name = MethodName.remove

        public struct Parameters: WireValue {
            /// The URLs to remove, pinned or not.
            public var urls: [String]?
            /// Removes entries whose URL starts with these bytes.
            public var prefix: String?
            /// Removes entries of this account: those whose URL has #as=NAME. If nothing else is given,
            /// pinned ones too.
            public var account: String?
            /// Removes entries of this host, in upper or lower case, without a port.
            public var host: String?
            /// Removes entries of this type, for example image/png. No downloads.
            public var mediaType: String?
            /// Removes the entries in this state: cached, fresh or stale. No downloads.
            public var state: ListState?
            /// Removes entries that were not used in the last so many seconds. No downloads.
            public var unusedFor: Int?
            /// Whether to remove all entries.
            public var all: Bool?
            /// Only with urls: whether to delete the images from the store too, if there is one that
            /// may be written to. Other machines keep theirs until they are stale.
            public var store: Bool?

            public init(
                urls: [String]? = nil,
                prefix: String? = nil,
                account: String? = nil,
                host: String? = nil,
                mediaType: String? = nil,
                state: ListState? = nil,
                unusedFor: Int? = nil,
                all: Bool? = nil,
                store: Bool? = nil
            ) {
                self.urls = urls
                self.prefix = prefix
                self.account = account
                self.host = host
                self.mediaType = mediaType
                self.state = state
                self.unusedFor = unusedFor
                self.all = all
                self.store = store
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("prefix", prefix)
                    json.member("account", account)
                    json.member("host", host)
                    json.member("mediaType", mediaType)
                    json.member("state", state)
                    json.member("unusedFor", unusedFor)
                    json.member("all", all)
                    json.member("store", store)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case prefix
                case account
                case host
                case mediaType
                case state
                case unusedFor
                case all
                case store
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decodeIfPresent([String].self, forKey: .urls)
                prefix = try members.decodeIfPresent(String.self, forKey: .prefix)
                account = try members.decodeIfPresent(String.self, forKey: .account)
                host = try members.decodeIfPresent(String.self, forKey: .host)
                mediaType = try members.decodeIfPresent(String.self, forKey: .mediaType)
                state = try members.decodeIfPresent(ListState.self, forKey: .state)
                unusedFor = try members.decodeIfPresent(Int.self, forKey: .unusedFor)
                all = try members.decodeIfPresent(Bool.self, forKey: .all)
                store = try members.decodeIfPresent(Bool.self, forKey: .store)
            }
        }

        public typealias Reply = RemovedEntries
    }
}
