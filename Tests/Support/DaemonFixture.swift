import Glibc

/// The built `cached`, running on a temporary directory and socket, with the built `cachectl` for
/// it.
///
///     let daemon = try await DaemonFixture.start(in: scope)
///     let output = try await daemon.cachectl("status", url)
///     #expect(output.status == .exited(1))
///
/// When the scope ends, a daemon still running is told to stop and must exit with 0; one that a
/// signal has ended, other than `kill()`'s, fails the test. One that had exited by itself is the
/// test's matter.
public final class DaemonFixture: Sendable {
    /// The cache's directory.
    public let directory: String
    /// The socket's path.
    public let socket: String
    public let process: ChildProcess
    private let options: Options
    private let scope: TestScope

    /// What a daemon is started with; all of it survives `restart()`.
    public struct Options: Sendable {
        /// Put behind those every test needs.
        public var arguments: [String] = []
        /// Added to the minimal environment.
        public var environment: [String: String] = [:]
        /// An existing cache directory instead of a new one.
        public var directory: String?
        /// A path for the socket instead of a new one: what lies there was left by a daemon before.
        public var socket: String?
        /// Whether addresses on this machine may be fetched from; without it they are refused.
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
        process = try ChildProcess(
            BuiltProducts.program("cached"), arguments + options.arguments,
            environment: Self.environment(home).merging(options.environment) { $1 },
            in: scope)
        scope.atEnd { [self] in
            if process.exitStatus?.code == nil { try await stop() }
        }
    }

    /// What every daemon has. It does not watch for memory pressure: that of the machine is no test's
    /// own, and would evict what another has just fetched. What fails, fails at once and is forgotten.
    private static func environment(_ home: String) -> [String: String] {
        minimalEnvironment([
            "HOME": home, "MEMORY_PRESSURE_WATCH": "/dev/null", "CACHED_ATTEMPTS": "1",
            "CACHED_REMEMBER_FAILURES": "no",
        ])
    }

    /// Starts another daemon on the same directory, with the same options. This one must have
    /// ended.
    public func restart() async throws -> DaemonFixture {
        var options = options
        options.directory = directory
        return try await Self.start(options, in: scope)
    }

    /// What the daemon has logged so far.
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

    /// Starts `cachectl` with `--socket` set, for commands that go on until something happens.
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

    /// SIGTERM; the daemon must exit with 0. Nothing happens when it has ended already by `kill()`.
    public func stop(within limit: Duration = .patience) async throws {
        process.signal(SIGTERM)
        let status = try await process.waitForExit(within: limit)
        guard status == .success || status == .signalled(SIGKILL) else {
            throw TestFailure("cached ended with \(status) and said:\n\(log)")
        }
    }

    /// SIGKILL, as a crash has it.
    public func kill() async throws {
        try await process.kill()
    }

    /// The option goes behind the subcommand, where it belongs.
    private func commandLine(_ arguments: [String]) -> [String] {
        arguments.prefix(1) + ["--socket", socket] + arguments.dropFirst()
    }
}
