import ArgumentParser
import CacheKey
import CacheWire

/// `cachectl name`
struct NameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "name",
        abstract: "Compute the file names of URLs. No daemon is needed.",
        discussion: """
            The name is the UUIDv5 of the URL's bytes in the URL namespace. Programs in any \
            language can compute the same name. The rules of CACHED_IGNORE_QUERY count: those of the \
            daemon, if one answers, else those of the environment.

            Example: cachectl name --path https://example.com/a.png
            """)

    @OptionGroup var socket: SocketOption

    @Flag(help: "Print the full path of the file.")
    var path = false

    @Option(
        help: ArgumentHelp(
            "The cache directory, for --path.",
            discussion: """
                Default: that of the daemon, if one answers; else $CACHED_DIRECTORY, else that of the \
                machine's daemon, /var/cache/cached, if its socket exists and the user's own does not; \
                else $XDG_CACHE_HOME/cached, else ~/.cache/cached.
                """,
            valueName: "path"))
    var directory: String?

    @OptionGroup var arguments: URLArguments

    func run() throws {
        try CommandFailure.checkThatKeysCanBeComputed()
        let rules = try NameRules.find(socket: socket.socket)
        let prefix = path ? try resolvedDirectory() + "/" : ""
        var output = Output()
        let given = try arguments.read()
        var status = given.reportInvalidLines() ? ExitStatus.invalidURL : .success
        for url in given.urls {
            do {
                try output.line(data: "\(prefix)\(rules.key(of: try CacheURL(url)))")
            } catch let error as InvalidURL {
                try output.flush()
                StandardError.report(url, "\(error)")
                status = .invalidURL
            }
        }
        try output.flush()
        throw status.error
    }

    /// The directory of the flag, or of the daemon that answers, or of the environment. If the last two differ,
    /// standard error says so.
    private func resolvedDirectory() throws -> String {
        if let directory { return directory }
        let search = try DirectorySearch(socket: socket.socket)
        if let asked = search.ofDaemon, let known = search.ofEnvironment, known != asked {
            StandardError.report(
                "the daemon's directory is \(asked), not \(known): programs that do not ask it "
                    + "need CACHED_DIRECTORY=\(asked) in their environment")
        }
        return try search.directory()
    }
}
