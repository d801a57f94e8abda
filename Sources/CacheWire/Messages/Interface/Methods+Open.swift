// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Hands over the file of a cached image: its descriptor, open for reading, comes with the
    /// reply (SCM_RIGHTS, unix(7)), for programs that may not or cannot open its path. Counts
    /// as a use, and never starts a download. If the image is not cached there is no
    /// descriptor, and the item has a failure; so it is while the client has not received 64
    /// descriptors, or the clients of its user a quarter of the daemon's limit of open files.
    public enum Open: Method {
        public static let name = MethodName.open

        public struct Parameters: WireValue {
            public var url: String

            public init(
                url: String
            ) {
                self.url = url
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("url", url)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case url
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                url = try members.decode(String.self, forKey: .url)
            }
        }

        public struct Reply: WireValue {
            public var item: Item

            public init(
                item: Item
            ) {
                self.item = item
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("item", item)
                }
            }
        }
    }
}
