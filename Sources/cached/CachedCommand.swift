import ArgumentParser
import CLinux
import CacheCore
import CacheFetching
import CacheWire
import Glibc
import Logging

/// The daemon: reads its settings, opens the cache, and serves the socket until a signal stops it.
@main
struct CachedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached",
        abstract: "Downloads images once for every program on the machine and keeps them as files.",
        discussion: """
            Runs in the foreground and logs to standard error, unless --detach is given. SIGTERM or SIGINT stops it, and SIGHUP \
            makes it read its configuration again. Each option can also be set by its environment \
            variable, whose name is in parentheses, or by a line with that name in the configuration \
            file. An option overrides the environment, and the environment overrides the file.
            """,
        version: Version.current)

    @OptionGroup(title: DaemonOptions.start) private var mode: Mode
    @OptionGroup var options: DaemonOptions

    /// What the program does other than run in the foreground.
    private struct Mode: ParsableArguments {
        @Flag(
            help: """
                Start in the background, without a log, and return when the socket answers. If the daemon does not \
                start, the reason and the exit status are its own. If one answers already, none is started.
                """)
        var detach = false

        /// This is the process that `--detach` has started.
        @Flag(help: .private)
        var detached = false

        @Flag(help: "Check the configuration, report what is wrong with it, and exit.")
        var checkConfig = false

        @Flag(help: "Print each setting with its value and where that comes from, and exit.")
        var printConfig = false

        @Flag(help: "With --print-config: print JSON, one object.")
        var json = false

        func validate() throws {
            if json, !printConfig { throw ValidationError("--json belongs to --print-config") }
        }
    }

    static func main() {
        // By default these signals end a process. They must not end the daemon before it handles them.
        for number in [SIGPIPE, SIGHUP, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        // libcurl would write the keys of all TLS connections to this file. SSLKEYLOGFILE in libcurl-env(3)
        unsetenv("SSLKEYLOGFILE")
        clinux_remember_end()
        clinux_take_standard_descriptors()
        // Host names in URLs are UTF-8, but libidn2 expects the encoding of the locale. setlocale(3)
        setlocale(LC_CTYPE, "C.UTF-8")
        ProcessMemory.keepLittle()
        do {
            var command = try parseAsRoot()
            guard let daemon = try (command as? CachedCommand)?.daemon() else {
                return try command.run()
            }
            try daemon.run()
        } catch {
            exit(withError: Self.reported(error))
        }
    }

    /// A failure to start has been logged, and only its exit status is left.
    private static func reported(_ error: any Error) -> any Error {
        guard let failure = error as? StartFailure else { return error }
        LogOutput.writeFailure(failure.message)
        return failure.exitCode
    }

    func run() throws {}

    /// The daemon, ready to serve. `nil` after a report about the configuration, or if another process serves.
    ///
    /// For a daemon, this must not wait for anything: until here there is one thread, and the daemon restricts it before it starts
    /// others.
    private func daemon() throws -> Daemon? {
        if let problem = ProgramArguments.problem { throw StartFailure.configuration(problem) }
        var environment = try Environment.all()
        if mode.detach { Detachment.leaveUnknownVariables(in: &environment) }
        var options = options
        let passed = mode.detach ? nil : try PassedSocket.ofProcess(environment)
        if let passed { options.values["CACHED_SOCKET"] = passed.path }
        let settings = try Settings.resolve(options, environment)
        guard !mode.checkConfig, !mode.printConfig else {
            try report(settings)
            return nil
        }
        guard !mode.detach else {
            try Detachment(socket: settings.socket).run()
            return nil
        }
        if mode.detached { Detachment.begin(settings) }
        return try Daemon(settings, options, environment, passed, isDetached: mode.detached)
    }

    private func report(_ settings: Settings) throws {
        let logger = LogOutput(settings.log).logger
        try DescriptorLimit.raise(logger)
        _ = try settings.prepared(logger)
        let report = SettingsReport(settings: settings)
        let lines =
            if !mode.printConfig { [report.summary] } else if mode.json { [report.json] } else {
                report.lines
            }
        for line in lines { print(line.printable) }
    }
}
