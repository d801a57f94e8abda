import ArgumentParser
import CacheWire

/// The `--socket` option.
struct SocketOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's socket.",
            discussion: """
                Default: $CACHED_SOCKET if it is set; otherwise $XDG_RUNTIME_DIR/cached/cached.sock or \
                /run/cached/cached.sock, the first at which a daemon answers.
                """,
            valueName: "path"),
        completion: .file())
    var socket: String?

    /// Connects to the daemon.
    func connect() throws -> Client {
        try Client(socket: socket)
    }

    /// Connects to the daemon, and starts one if none answers: for commands that need it to do something.
    func connectOrStart() throws -> Client {
        let environment = try Environment.current()
        let paths = SocketLookup.clientPaths(flag: socket, environment: environment)
        return try Client(paths: paths, startingAt: socket)
    }
}

extension Client {
    /// Connects to the socket that `flag` names. Without a flag, looks for the daemon at the
    /// default places.
    convenience init(socket flag: String?) throws(ClientError) {
        let environment = try Environment.current()
        try self.init(paths: SocketLookup.clientPaths(flag: flag, environment: environment))
    }
}
