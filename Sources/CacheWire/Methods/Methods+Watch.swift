extension Methods {
    /// Reports the current state and then, at a limited rate, every change, until the next call on
    /// the connection. Without `more` it reports only the current state of the given URLs.
    public enum Watch: Method {
        public static let name = MethodName.watch

        public struct Parameters: Codable, Sendable, Hashable {
            /// Absent: all URLs.
            public var urls: [String]?
            /// Whether to watch downloads only, without `urls`: each download when it is requested,
            /// when it starts, and when it ends.
            public var downloads: Bool?

            public init(urls: [String]? = nil, downloads: Bool? = nil) {
                self.urls = urls
                self.downloads = downloads
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// The items that changed since the last reply. The first replies contain all items.
            public var items: [Item]
            /// The keys that are no longer cached or in flight. The item of a failed download gives
            /// the reason.
            public var removed: [String]

            public init(items: [Item], removed: [String]) {
                self.items = items
                self.removed = removed
            }
        }
    }
}
