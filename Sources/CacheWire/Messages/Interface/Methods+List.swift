// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Lists the entries, page by page. Until the directory has been read (isIndexed of Stats)
    /// the list contains only the entries that have been read so far. With a filter a page can
    /// be shorter than limit, even empty, and not be the last.
    public enum List: Method {
        public static let name = MethodName.list

        public struct Parameters: WireValue {
            /// The default is recency.
            public var order: ListOrder?
            /// The most items to return. The daemon can return fewer.
            public var limit: Int?
            /// The after of the previous page's reply.
            public var after: String?
            /// Whether to reverse the order.
            public var reverse: Bool?
            /// Only images whose URL starts with these bytes.
            public var prefix: String?
            /// Only images of this host, in upper or lower case, without a port.
            public var host: String?
            /// Only images whose URL or key contains this text. Upper and lower case of ASCII count as
            /// the same.
            public var contains: String?
            /// Only images of this account: those whose URL has #as=NAME.
            public var account: String?
            /// Only images of this type, for example image/png. Not of downloads.
            public var mediaType: String?
            /// Only images with this digest, as 64 hexadecimal digits in lower case: copies of one
            /// image. Not downloads.
            public var sha256: String?
            public var state: ListState?
            /// Whether to leave out the images that were derived from others: those whose URL has
            /// side=N. One of an original that was as small, but turned, can be listed.
            public var originals: Bool?
            /// Whether to return keys in place of items.
            public var keysOnly: Bool?

            public init(
                order: ListOrder? = nil,
                limit: Int? = nil,
                after: String? = nil,
                reverse: Bool? = nil,
                prefix: String? = nil,
                host: String? = nil,
                contains: String? = nil,
                account: String? = nil,
                mediaType: String? = nil,
                sha256: String? = nil,
                state: ListState? = nil,
                originals: Bool? = nil,
                keysOnly: Bool? = nil
            ) {
                self.order = order
                self.limit = limit
                self.after = after
                self.reverse = reverse
                self.prefix = prefix
                self.host = host
                self.contains = contains
                self.account = account
                self.mediaType = mediaType
                self.sha256 = sha256
                self.state = state
                self.originals = originals
                self.keysOnly = keysOnly
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("order", order)
                    json.member("limit", limit)
                    json.member("after", after)
                    json.member("reverse", reverse)
                    json.member("prefix", prefix)
                    json.member("host", host)
                    json.member("contains", contains)
                    json.member("account", account)
                    json.member("mediaType", mediaType)
                    json.member("sha256", sha256)
                    json.member("state", state)
                    json.member("originals", originals)
                    json.member("keysOnly", keysOnly)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case order
                case limit
                case after
                case reverse
                case prefix
                case host
                case contains
                case account
                case mediaType
                case sha256
                case state
                case originals
                case keysOnly
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                order = try members.decodeIfPresent(ListOrder.self, forKey: .order)
                limit = try members.decodeIfPresent(Int.self, forKey: .limit)
                after = try members.decodeIfPresent(String.self, forKey: .after)
                reverse = try members.decodeIfPresent(Bool.self, forKey: .reverse)
                prefix = try members.decodeIfPresent(String.self, forKey: .prefix)
                host = try members.decodeIfPresent(String.self, forKey: .host)
                contains = try members.decodeIfPresent(String.self, forKey: .contains)
                account = try members.decodeIfPresent(String.self, forKey: .account)
                mediaType = try members.decodeIfPresent(String.self, forKey: .mediaType)
                sha256 = try members.decodeIfPresent(String.self, forKey: .sha256)
                state = try members.decodeIfPresent(ListState.self, forKey: .state)
                originals = try members.decodeIfPresent(Bool.self, forKey: .originals)
                keysOnly = try members.decodeIfPresent(Bool.self, forKey: .keysOnly)
            }
        }

        public struct Reply: WireValue {
            /// Empty with keysOnly.
            public var items: [Item]
            /// The position after this page; absent on the last page.
            public var after: String?
            /// Only with keysOnly.
            public var keys: [String]?

            public init(
                items: [Item],
                after: String? = nil,
                keys: [String]? = nil
            ) {
                self.items = items
                self.after = after
                self.keys = keys
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("items", items)
                    json.member("after", after)
                    json.member("keys", keys)
                }
            }
        }
    }
}
