// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Reports where the cache is, so that a client need not guess.
    public enum Where: Method {
        public static let name = MethodName.where

        public typealias Parameters = NoParameters

        public struct Reply: WireValue {
            /// The absolute path of the cache directory.
            public var directory: String
            /// The absolute path of the socket.
            public var socket: String
            public var version: String
            /// Whether several users share the cache, so that it keeps no private images.
            public var shared: Bool
            /// The rules that say which parts of a query do not count in the name of an image, as in
            /// the setting CACHED_IGNORE_QUERY. Absent if there are none.
            public var ignoreQuery: String?

            public init(
                directory: String,
                socket: String,
                version: String,
                shared: Bool,
                ignoreQuery: String? = nil
            ) {
                self.directory = directory
                self.socket = socket
                self.version = version
                self.shared = shared
                self.ignoreQuery = ignoreQuery
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("directory", directory)
                    json.member("socket", socket)
                    json.member("version", version)
                    json.member("shared", shared)
                    json.member("ignoreQuery", ignoreQuery)
                }
            }
        }
    }
}
