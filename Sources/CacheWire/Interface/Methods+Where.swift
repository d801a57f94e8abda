// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

extension Methods {
    /// Tells where the cache is, so that a client need not guess.
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

            public init(
                directory: String,
                socket: String,
                version: String,
                shared: Bool
            ) {
                self.directory = directory
                self.socket = socket
                self.version = version
                self.shared = shared
            }

            public func write(to json: inout JSONText) {
                json.object { json in
                    json.member("directory", directory)
                    json.member("socket", socket)
                    json.member("version", version)
                    json.member("shared", shared)
                }
            }
        }
    }
}
