import CacheWire

/// Where the cache directory is, for commands that also work without a daemon.
struct DirectorySearch {
    /// The directory of the daemon; `nil` if none answers within a second, or only an old one that does not report
    /// it.
    let ofDaemon: String?
    /// The directory in which programs with the environment of this process look.
    let ofEnvironment: String?

    /// - Parameter socket: the value of `--socket`. If it is set, a daemon must answer there.
    init(socket: String?) throws(ClientError) {
        ofEnvironment = DirectoryLookup.clientPath(environment: try Environment.current())
        do throws(ClientError) {
            ofDaemon = try Self.ask(socket)
        } catch {
            guard socket == nil else { throw error }
            ofDaemon = nil
        }
    }

    private static func ask(_ socket: String?) throws(ClientError) -> String? {
        var replies = try Client(socket: socket).stream(Methods.Where.self, .init())
        guard try replies.isReady(within: 1000) else { return nil }
        return try replies.next()?.directory
    }

    /// The directory of the daemon, else of the environment.
    func directory() throws(CommandFailure) -> String {
        if let found = ofDaemon ?? ofEnvironment { return found }
        throw CommandFailure(
            status: .usage,
            message:
                "HOME is not set: name the cache directory with --directory or CACHED_DIRECTORY"
        )
    }
}
