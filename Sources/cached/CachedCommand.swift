import ArgumentParser
import CLinux
import CacheCore
import CacheWire
import Glibc
import Logging
import ServiceLifecycle
import UnixSignals

/// The daemon: reads its settings, opens the cache, and serves the socket until a signal stops it.
@main
struct CachedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached",
        abstract: "Downloads images once for every program on the machine and keeps them as files.",
        discussion: """
            Runs in the foreground and logs to standard error. SIGTERM or SIGINT stops it, and SIGHUP \
            makes it read its configuration again. Each option can also be set by its environment \
            variable, whose name is in parentheses, or by a line with that name in the configuration \
            file. An option overrides the environment, and the environment overrides the file.
            """,
        version: Version.current)

    @Flag(help: "Check the configuration, report what is wrong with it, and exit.")
    var checkConfig = false

    @Flag(help: "Print each setting with its value and where that comes from, and exit.")
    var printConfig = false

    @OptionGroup var options: DaemonOptions

    static func main() async {
        // By default these signals end a process. They must not end the daemon before it handles them.
        for number in [SIGPIPE, SIGHUP, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        clinux_remember_end()
        clinux_take_standard_descriptors()
        // Host names in URLs are UTF-8, but libidn2 expects the encoding of the locale. setlocale(3)
        setlocale(LC_CTYPE, "C.UTF-8")
        ProcessMemory.keepLittle()
        await main(nil)
    }

    func run() async throws {
        do {
            if let problem = ProgramArguments.problem { throw StartFailure.configuration(problem) }
            let settings = try Settings.resolve(options, try Environment.all())
            if checkConfig || printConfig {
                try report(settings)
            } else {
                try await serve(settings)
            }
        } catch let failure as StartFailure {
            LogOutput.writeFailure(failure.message)
            throw failure.exitCode
        }
    }

    private func report(_ settings: Settings) throws {
        let logger = logger(LogOutput(settings.log))
        try DescriptorLimit.raise(logger)
        _ = try settings.prepared(logger)
        let report = SettingsReport(settings: settings)
        for line in printConfig ? report.lines : [report.summary] { print(line.printable) }
    }

    private func logger(_ output: LogOutput) -> Logger {
        Logger(label: "cached") { _ in DaemonLog(output) }
    }

    private func serve(_ settings: Settings) async throws {
        let log = LogOutput(settings.log)
        let logger = logger(log)
        try DescriptorLimit.raise(logger)
        if !settings.unusedProxies.isEmpty {
            logger.notice(
                "the proxy of the environment is not used; set one with --proxy",
                metadata: ["variables": "\(settings.unusedProxies.joined(separator: ", "))"])
        }
        let server = try SocketServer(try settings.prepared(logger), logger: logger)
        let reload = Reload(server: server, log: log, settings: settings, options: options)
        let signals = await PressureSignals(monitor: server.pressure)
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: reload), .init(service: signals), .init(service: server),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }
}
