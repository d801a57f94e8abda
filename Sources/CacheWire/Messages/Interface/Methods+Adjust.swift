// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Changes the images of the Fetch with more that runs on the connection. An image whose
    /// priority changes keeps its download. Oneway, the next reply to the Fetch has the items
    /// that are new. With more, the Fetch ends with a reply without items, and the replies to
    /// Adjust go on in its place. Without either the error is ExpectedMore.
    public enum Adjust: Method {
        public static let name = MethodName.adjust

        public struct Parameters: WireValue {
            public var add: [Want]?
            /// URLs that are no longer wanted. They are dropped before others are added.
            public var drop: [String]?

            public init(
                add: [Want]? = nil,
                drop: [String]? = nil
            ) {
                self.add = add
                self.drop = drop
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("add", add)
                    json.member("drop", drop)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case add
                case drop
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                add = try members.decodeIfPresent([Want].self, forKey: .add)
                drop = try members.decodeIfPresent([String].self, forKey: .drop)
            }
        }

        public typealias Reply = ItemList
    }
}
