extension Methods {
    /// Tells what changes, paced, until the call ends; makes sense with `more` only.
    public enum Watch: Method {
        public static let name = MethodName.watch

        public struct Parameters: Codable, Sendable, Hashable {
            /// Absent: everything.
            public var urls: [String]?

            public init(urls: [String]? = nil) {
                self.urls = urls
            }
        }

        public struct Reply: Codable, Sendable, Hashable {
            /// Those that changed since the last reply.
            public var items: [Item]
            /// The keys of entries that are gone.
            public var removed: [String]

            public init(items: [Item], removed: [String]) {
                self.items = items
                self.removed = removed
            }
        }
    }
}
