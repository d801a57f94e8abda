extension Methods {
    /// Tells where the cache is, so that a client need not guess.
    public enum Where: Method {
        public static let name = MethodName.whereabouts

        public typealias Parameters = NoParameters

        public struct Reply: Codable, Sendable, Hashable {
            /// The absolute path of the cache directory.
            public var directory: String
            /// The absolute path of the socket.
            public var socket: String
            /// See ``Version``.
            public var version: String
            /// Whether several users share the cache, so that it keeps no private images.
            public var shared: Bool

            public init(directory: String, socket: String, version: String, shared: Bool) {
                (self.directory, self.socket) = (directory, socket)
                (self.version, self.shared) = (version, shared)
            }
        }
    }
}
