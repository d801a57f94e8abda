// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Returns what happened lately, the newest last. The daemon remembers 10,000 events over
    /// restarts; a crash loses those of the last seconds. Of another person's shared daemon,
    /// urls are needed: what others fetched is not for everybody.
    public enum History: Method {
        public static let name = MethodName.history

        public struct Parameters: WireValue {
            /// Only events of these images.
            public var urls: [String]?
            /// Only events of these kinds.
            public var kinds: [HistoryKind]?
            /// Only events at this time or later.
            public var since: Int?
            /// The most events to return, of more the newest. The default is 1,000.
            public var limit: Int?
            /// Whether to return samples of the figures too.
            public var samples: Bool?

            public init(
                urls: [String]? = nil,
                kinds: [HistoryKind]? = nil,
                since: Int? = nil,
                limit: Int? = nil,
                samples: Bool? = nil
            ) {
                self.urls = urls
                self.kinds = kinds
                self.since = since
                self.limit = limit
                self.samples = samples
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("kinds", kinds)
                    json.member("since", since)
                    json.member("limit", limit)
                    json.member("samples", samples)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case kinds
                case since
                case limit
                case samples
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decodeIfPresent([String].self, forKey: .urls)
                kinds = try members.decodeIfPresent([HistoryKind].self, forKey: .kinds)
                since = try members.decodeIfPresent(Int.self, forKey: .since)
                limit = try members.decodeIfPresent(Int.self, forKey: .limit)
                samples = try members.decodeIfPresent(Bool.self, forKey: .samples)
            }
        }

        public struct Reply: WireValue {
            public var events: [HistoryEvent]
            /// Only with samples.
            public var samples: HistorySamples?

            public init(
                events: [HistoryEvent],
                samples: HistorySamples? = nil
            ) {
                self.events = events
                self.samples = samples
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("events", events)
                    json.member("samples", samples)
                }
            }
        }
    }
}
