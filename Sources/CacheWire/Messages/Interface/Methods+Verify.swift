// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Reads all entries and compares them with what was downloaded; with more, it reports
    /// progress without items. The file of a damaged entry is removed, and a pinned image is
    /// downloaded again at once. The verification stops if its caller disconnects.
    public enum Verify: Method {
        public static let name = MethodName.verify

        public struct Parameters: WireValue {
            /// Whether to download all damaged entries again and wait for them.
            public var repair: Bool?

            public init(
                repair: Bool? = nil
            ) {
                self.repair = repair
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("repair", repair)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case repair
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                repair = try members.decodeIfPresent(Bool.self, forKey: .repair)
            }
        }

        public struct Reply: WireValue {
            /// The number of compared entries.
            public var checked: Int
            /// The first 10,000 damaged entries: cached if downloaded again, missing if that is
            /// impossible because their URL is lost, and otherwise with a failure: what is wrong, and
            /// whether the file was removed. Only in the last reply.
            public var damaged: [Item]
            /// The number of entries at the start.
            public var total: Int?
            /// The number of damaged entries.
            public var damagedCount: Int?
            /// The number of damaged entries that were not repaired.
            public var leftCount: Int?
            /// Why the entries could not be read.
            public var failure: Failure?

            public init(
                checked: Int,
                damaged: [Item],
                total: Int? = nil,
                damagedCount: Int? = nil,
                leftCount: Int? = nil,
                failure: Failure? = nil
            ) {
                self.checked = checked
                self.damaged = damaged
                self.total = total
                self.damagedCount = damagedCount
                self.leftCount = leftCount
                self.failure = failure
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("checked", checked)
                    json.member("damaged", damaged)
                    json.member("total", total)
                    json.member("damagedCount", damagedCount)
                    json.member("leftCount", leftCount)
                    json.member("failure", failure)
                }
            }
        }
    }
}
