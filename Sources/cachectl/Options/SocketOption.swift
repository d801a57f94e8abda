import ArgumentParser
import CacheWire

/// Where the daemon is.
struct SocketOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's socket.",
            discussion: """
                Default: $CACHED_SOCKET, else the first of $XDG_RUNTIME_DIR/cached.sock and \
                /run/cached/cached.sock where a daemon answers.
                """,
            valueName: "path"))
    var socket: String?

    /// A client of the daemon that answers there.
    func connect() throws -> Client {
        try Client(socket: socket)
    }
}

extension Client {
    /// A client of the daemon at the socket named by a flag, or wherever one is looked for.
    convenience init(socket flag: String?) throws(ClientError) {
        let environment = try Environment.current()
        try self.init(paths: SocketLookup.clientPaths(flag: flag, environment: environment))
    }
}
