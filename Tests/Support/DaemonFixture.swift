import Glibc

/// The built `cached`, running on a temporary directory and socket, and the built `cachectl` to talk to
/// it.
///
///     let daemon = try await DaemonFixture.start(in: scope)
///     let output = try await daemon.cachectl("status", url)
///     #expect(output.status == .exited(1))
///
/// When the scope ends, a daemon that is still running is stopped and must exit with 0. A daemon ended
/// by a signal other than `kill()`'s fails the test. If the daemon exits by itself, the test has to
/// check that.
public final class DaemonFixture: Sendable {
    /// The cache's directory.
    public let directory: String
    /// The socket's path.
    public let socket: String
    public let process: ChildProcess
    private let options: Options
    private let scope: TestScope

    /// The options that a daemon is started with; all of them survive `restart()`.
    public struct Options: Sendable {
        /// Added after the arguments that every test needs.
        public var arguments: [String] = []
        /// Added to the minimal environment.
        public var environment: [String: String] = [:]
        /// A command that starts the daemon as its own process, which is given after these words.
        public var launcher: [String] = []
        /// An existing cache directory instead of a new one.
        public var directory: String?
        /// A socket path to use instead of a new one, for example one that an earlier daemon left behind.
        public var socket: String?
        /// Whether the daemon is allowed to fetch from addresses on this machine, which it refuses by
        /// default.
        public var allowsLoopback = true
        /// Whether to wait until the socket accepts connections.
        public var waitsUntilReady = true

        public init() {}
    }

    /// Starts a daemon and waits until its socket accepts connections.
    public static func start(
        _ arguments: [String] = [], environment: [String: String] = [:], in scope: TestScope
    ) async throws -> DaemonFixture {
        var options = Options()
        options.arguments = arguments
        options.environment = environment
        return try await start(options, in: scope)
    }

    /// Starts a daemon.
    public static func start(
        _ options: Options, in scope: TestScope
    ) async throws -> DaemonFixture {
        let home = try TemporaryDirectory(in: scope)
        let daemon = try DaemonFixture(
            options, home: home.path, directory: options.directory ?? home.file("cache"), in: scope)
        if options.waitsUntilReady { try await daemon.process.waitForSocket(daemon.socket) }
        return daemon
    }

    private init(_ options: Options, home: String, directory: String, in scope: TestScope) throws {
        self.options = options
        self.scope = scope
        self.directory = directory
        socket = options.socket ?? "\(home)/s"
        var arguments = ["--directory", directory, "--socket", socket]
        if options.allowsLoopback {
            arguments += ["--allow-network", "127.0.0.0/8", "--allow-network", "::1/128"]
        }
        let launcher = options.launcher + Self.wrapper
        let words = try launcher + [BuiltProducts.program("cached")] + arguments
        process = try ChildProcess(
            words[0], words.dropFirst() + options.arguments,
            environment: Self.environment(home).merging(options.environment) { $1 },
            in: scope)
        scope.atEnd { [self] in
            if process.exitStatus?.code == nil { try await stop() }
        }
    }

    /// A program that starts every daemon, from `CACHED_TEST_WRAPPER`: `make test-confined` sets it.
    private static let wrapper = getenv("CACHED_TEST_WRAPPER").map { [String(cString: $0)] } ?? []

    /// The environment of every daemon. It does not watch for memory pressure: pressure caused by other
    /// programs would evict images of a test. A download is tried once.
    private static func environment(_ home: String) -> [String: String] {
        minimalEnvironment([
            "HOME": home, "MEMORY_PRESSURE_WATCH": "/dev/null", "CACHED_ATTEMPTS": "1",
            // A sanitizer uses system calls that the daemon itself does not.
            "CACHED_RESTRICT": isSanitized ? "no" : "yes",
        ])
    }

    /// Starts another daemon on the same directory, with the same options. This daemon must have
    /// ended.
    public func restart() async throws -> DaemonFixture {
        var options = options
        options.directory = directory
        return try await Self.start(options, in: scope)
    }

    /// Ends this daemon, by a crash or an orderly stop, and starts another one.
    public func replace(afterCrash: Bool) async throws -> DaemonFixture {
        if afterCrash { try await kill() } else { try await stop() }
        return try await restart()
    }

    /// The log of the daemon so far.
    public var log: String { process.text(.standardError) }

    /// Runs `cachectl` to its end with `--socket` set.
    @discardableResult
    public func cachectl(
        _ arguments: String..., input: [UInt8] = [],
        standardError: ChildProcess.ErrorSink = .pipe, within limit: Duration = .patience
    ) async throws -> ProcessOutput {
        try await run(
            BuiltProducts.program("cachectl"), commandLine(arguments),
            environment: minimalEnvironment(["HOME": "/nonexistent"]), input: input,
            standardError: standardError, within: limit)
    }

    /// Starts `cachectl` with `--socket` set, for commands that run until something happens.
    public func startCachectl(
        _ arguments: String..., standardError: ChildProcess.ErrorSink = .pipe
    ) throws -> ChildProcess {
        try ChildProcess(
            BuiltProducts.program("cachectl"), commandLine(arguments),
            environment: minimalEnvironment(["HOME": "/nonexistent"]),
            standardError: standardError, in: scope)
    }

    /// Opens a raw connection.
    public func connect() throws -> VarlinkConnection {
        try VarlinkConnection(socket, in: scope)
    }

    /// Sends SIGTERM; the daemon must exit with 0. Does nothing if `kill()` has ended it already.
    public func stop(within limit: Duration = .patience) async throws {
        process.signal(SIGTERM)
        let status = try await process.waitForExit(within: limit)
        guard status == .success || status == .signalled(SIGKILL) else {
            throw TestFailure("cached ended with \(status) and logged:\n\(log)")
        }
    }

    /// Sends SIGKILL, which is like a crash.
    public func kill() async throws {
        try await process.kill()
    }

    /// Inserts the option after the subcommand.
    private func commandLine(_ arguments: [String]) -> [String] {
        arguments.prefix(1) + ["--socket", socket] + arguments.dropFirst()
    }
}
