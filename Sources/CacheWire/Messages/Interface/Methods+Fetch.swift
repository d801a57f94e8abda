// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Downloads what is missing or stale. A URL that is already being downloaded joins that
    /// download.
    ///
    /// With more: first all items, then the items that change, and at the end all items; if
    /// nothing has to be waited for, only the last reply. Another Fetch or Watch on the
    /// connection takes over from the running one, and Adjust changes its images.
    public enum Fetch: Method {
        public static let name = MethodName.fetch

        public struct Parameters: WireValue {
            /// In any order and with repetitions. The items of the reply have the same order.
            public var urls: [String]?
            /// More images, with a priority each. Their items follow those of urls.
            public var wants: [Want]?
            /// The default is normal.
            public var priority: Priority?
            /// Whether to ask the origin even if the entry is still fresh.
            public var refresh: Bool?
            /// false replies at once. The daemon continues the downloads on its own.
            public var wait: Bool?
            /// The expected SHA-256 of every image, as 64 hexadecimal digits. An image with another
            /// digest is a failure. If a manager calls and any entry has these bytes, nothing is
            /// downloaded.
            public var sha256: String?
            /// Only with more: the stream goes on when all images are decided. It reports evictions,
            /// removals and refreshes, and fetches again at retryAt what failed for a reason that
            /// passes.
            public var follow: Bool?

            public init(
                urls: [String]? = nil,
                wants: [Want]? = nil,
                priority: Priority? = nil,
                refresh: Bool? = nil,
                wait: Bool? = nil,
                sha256: String? = nil,
                follow: Bool? = nil
            ) {
                self.urls = urls
                self.wants = wants
                self.priority = priority
                self.refresh = refresh
                self.wait = wait
                self.sha256 = sha256
                self.follow = follow
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("wants", wants)
                    json.member("priority", priority)
                    json.member("refresh", refresh)
                    json.member("wait", wait)
                    json.member("sha256", sha256)
                    json.member("follow", follow)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case wants
                case priority
                case refresh
                case wait
                case sha256
                case follow
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decodeIfPresent([String].self, forKey: .urls)
                wants = try members.decodeIfPresent([Want].self, forKey: .wants)
                priority = try members.decodeIfPresent(Priority.self, forKey: .priority)
                refresh = try members.decodeIfPresent(Bool.self, forKey: .refresh)
                wait = try members.decodeIfPresent(Bool.self, forKey: .wait)
                sha256 = try members.decodeIfPresent(String.self, forKey: .sha256)
                follow = try members.decodeIfPresent(Bool.self, forKey: .follow)
            }
        }

        public typealias Reply = ItemList
    }
}
