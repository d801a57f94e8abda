// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Reports the current state and then the changes. It never starts a download, and does not
    /// count as a use.
    ///
    /// With more: first the current state, in replies of at most 256 items; then the changes,
    /// which are gathered for at most 100 ms, ends of downloads for at most 20 ms. An item is
    /// reported again when its state or phase changes, when 1 % more of it has arrived, and
    /// when it ends. If a download failed, an item with its failure is reported too. The url of
    /// an item comes from the attribute of its file, and is empty if it is not known.
    ///
    /// A client that reads slowly gets the newest state. If more has changed than the daemon
    /// remembers, the stream ends, and the client has to call again. A new Watch takes over
    /// from the running one and misses no change of what both name. Without more: the current
    /// state of the urls, once. Without more and urls the error is ExpectedMore.
    public enum Watch: Method {
        public static let name = MethodName.watch

        public struct Parameters: WireValue {
            /// Absent: everything, unless pressure is set.
            public var urls: [String]?
            /// Whether to watch downloads only, without urls: each download when it is requested, when
            /// it starts and when it ends. A download that takes less than 100 ms is not reported.
            public var downloads: Bool?
            /// Whether to report memory pressure: the level at the beginning and each other level.
            /// Without urls and downloads the stream reports nothing else.
            public var pressure: Bool?

            public init(
                urls: [String]? = nil,
                downloads: Bool? = nil,
                pressure: Bool? = nil
            ) {
                self.urls = urls
                self.downloads = downloads
                self.pressure = pressure
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("urls", urls)
                    json.member("downloads", downloads)
                    json.member("pressure", pressure)
                }
            }

            private enum CodingKeys: String, CodingKey, CaseIterable {
                case urls
                case downloads
                case pressure
            }

            public init(from decoder: any Decoder) throws {
                let members = try decoder.members(CodingKeys.self)
                urls = try members.decodeIfPresent([String].self, forKey: .urls)
                downloads = try members.decodeIfPresent(Bool.self, forKey: .downloads)
                pressure = try members.decodeIfPresent(Bool.self, forKey: .pressure)
            }
        }

        public struct Reply: WireValue {
            /// The items that changed since the last reply. The first replies contain all items.
            public var items: [Item]
            /// The keys that are no longer cached or in flight, whatever the reason.
            public var removed: [String]
            /// Only with pressure, in replies that report a level.
            public var pressure: MemoryPressure?

            public init(
                items: [Item],
                removed: [String],
                pressure: MemoryPressure? = nil
            ) {
                self.items = items
                self.removed = removed
                self.pressure = pressure
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("items", items)
                    json.member("removed", removed)
                    json.member("pressure", pressure)
                }
            }
        }
    }
}
