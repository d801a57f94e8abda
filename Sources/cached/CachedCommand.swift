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
            let environment = try Environment.all()
            var options = options
            let passed = try PassedSocket.ofProcess(environment)
            if let passed { options.socket = passed.path }
            let settings = try Settings.resolve(options, environment)
            if checkConfig || printConfig {
                try report(settings)
            } else {
                try await serve(settings, options, environment, passed)
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

    private func serve(
        _ settings: Settings, _ options: DaemonOptions, _ environment: [String: String],
        _ passed: PassedSocket?
    ) async throws {
        let log = LogOutput(settings.log)
        let logger = logger(log)
        try DescriptorLimit.raise(logger)
        if !settings.unusedProxies.isEmpty {
            logger.notice(
                "the proxy of the environment is not used; set one with --proxy",
                metadata: ["variables": "\(settings.unusedProxies.joined(separator: ", "))"])
        }
        if !settings.cache.transfers.trustsOnlyCertificateFile, let file = Cache.missingCertificates
        {
            logger.warning(
                "the system's certificates cannot be read, so https downloads fail; install ca-certificates",
                metadata: ["file": "\(file)"])
        }
        let manager = ServiceManager(environment, logger: logger)
        let server = try SocketServer(
            try settings.prepared(logger), passed: passed, manager: manager, logger: logger)
        let reload = await Reload(
            server: server, manager: manager, log: log, settings: settings, options: options)
        let signals = await PressureSignals(monitor: server.pressure)
        let others: [any Service] = [reload, signals] + reports(on: server, to: manager)
        var services = others.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        // The last one stops first. It also ends by itself if it is idle.
        services.append(
            .init(service: server, successTerminationBehavior: .gracefullyShutdownGroup))
        let group = ServiceGroup(
            configuration: .init(
                services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }

    private func reports(on server: SocketServer, to manager: ServiceManager) -> [any Service] {
        guard manager.isListening else { return [] }
        let status = StatusReports(manager: manager) { server.statusLine }
        let watchdog = manager.watchdog.map {
            Watchdog(manager: manager, limit: $0) { server.takeTurn($0) }
        }
        return [status] + [watchdog].compactMap(\.self)
    }
}
