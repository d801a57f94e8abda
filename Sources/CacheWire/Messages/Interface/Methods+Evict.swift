// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Evicts entries, those that were never used first and then the least recently used, until
    /// the cache fits a size, or all entries that a filter chooses, as in Remove. Pinned
    /// entries stay, and those that are being downloaded again.
    public enum Evict: Method {
        public static let name = MethodName.evict

        public struct Parameters: WireValue {
            /// The size. Not with a filter.
            public var toBytes: Int?
            public var prefix: String?
            public var account: String?
            public var host: String?
            public var mediaType: String?
            public var state: ListState?
            /// Evicts entries that were not used in the last so many seconds.
            public var unusedFor: Int?

            public init(
                toBytes: Int? = nil,
                prefix: String? = nil,
                account: String? = nil,
                host: String? = nil,
                mediaType: String? = nil,
                state: ListState? = nil,
                unusedFor: Int? = nil
            ) {
                self.toBytes = toBytes
                self.prefix = prefix
                self.account = account
                self.host = host
                self.mediaType = mediaType
                self.state = state
                self.unusedFor = unusedFor
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("toBytes", toBytes)
                    json.member("prefix", prefix)
                    json.member("account", account)
                    json.member("host", host)
                    json.member("mediaType", mediaType)
                    json.member("state", state)
                    json.member("unusedFor", unusedFor)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case toBytes
                case prefix
                case account
                case host
                case mediaType
                case state
                case unusedFor
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                toBytes = try members.decodeIfPresent(Int.self, forKey: .toBytes)
                prefix = try members.decodeIfPresent(String.self, forKey: .prefix)
                account = try members.decodeIfPresent(String.self, forKey: .account)
                host = try members.decodeIfPresent(String.self, forKey: .host)
                mediaType = try members.decodeIfPresent(String.self, forKey: .mediaType)
                state = try members.decodeIfPresent(ListState.self, forKey: .state)
                unusedFor = try members.decodeIfPresent(Int.self, forKey: .unusedFor)
            }
        }

        public typealias Reply = RemovedEntries
    }
}
