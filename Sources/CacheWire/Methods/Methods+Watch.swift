extension Methods {
    /// Tells how things stand, then what changes, paced, until the next call. Without `more` only the first,
    /// and only of URLs.
    public enum Watch: Method {
        public static let name = MethodName.watch

        public struct Parameters: Codable, Sendable, Hashable {
            /// Absent: everything.
            public var urls: [String]?
            /// `true`, without URLs: downloads alone, each as it is asked for, as its turn comes, and
            /// as it ends.
            public var downloads: Bool?

            public init(urls: [String]? = nil, downloads: Bool? = nil) {
                self.urls = urls
                self.downloads = downloads
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// Those that changed since the last reply; in the first replies, all of them.
            public var items: [Item]
            /// The keys of what is neither cached nor in flight any more. Where it failed, its item says why.
            public var removed: [String]

            public init(items: [Item], removed: [String]) {
                self.items = items
                self.removed = removed
            }
        }
    }
}
