// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Evicts the least recently used entries until the cache fits a size.
    public enum Evict: Method {
        public static let name = MethodName.evict

        public struct Parameters: WireValue {
            /// The size.
            public var toBytes: Int

            public init(
                toBytes: Int
            ) {
                self.toBytes = toBytes
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("toBytes", toBytes)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case toBytes
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                toBytes = try members.decode(Int.self, forKey: .toBytes)
            }
        }

        public typealias Reply = RemovedEntries
    }
}
