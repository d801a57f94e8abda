extension Methods {
    /// Removes entries and cancels downloads, by URL, by prefix, or all.
    ///
    /// Pinned entries are removed only by URL.
    public enum Remove: Method {
        public static let name = MethodName.remove

        public struct Parameters: Codable, Sendable, Hashable {
            /// The URLs to remove, pinned or not.
            public var urls: [String]?
            /// Removes all entries whose URL starts with these bytes.
            public var prefix: String?
            /// Whether to remove all entries.
            public var all: Bool?

            public init(urls: [String]? = nil, prefix: String? = nil, all: Bool? = nil) {
                self.urls = urls
                self.prefix = prefix
                self.all = all
            }
        }

        public typealias Reply = RemovedEntries
    }
}
