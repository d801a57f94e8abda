extension Methods {
    /// Removes entries and cancels downloads, by URL, by prefix, or all.
    ///
    /// By prefix or all, pinned entries stay.
    public enum Remove: Method {
        public static let name = MethodName.remove

        public struct Parameters: Codable, Sendable, Hashable {
            /// Exactly these, pinned or not.
            public var urls: [String]?
            /// All whose URL starts with these bytes.
            public var prefix: String?
            /// `true`: every entry.
            public var all: Bool?

            public init(urls: [String]? = nil, prefix: String? = nil, all: Bool? = nil) {
                self.urls = urls
                self.prefix = prefix
                self.all = all
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// How many entries went.
            public var entries: Int
            /// What the disk held for them, in bytes, attributes included.
            public var bytes: Int
            /// Why some stayed that were to go.
            public var failure: Failure?

            public init(entries: Int, bytes: Int, failure: Failure? = nil) {
                self.entries = entries
                self.bytes = bytes
                self.failure = failure
            }
        }
    }
}
