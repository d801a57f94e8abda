import ArgumentParser
import CLinux
import CacheCore
import CacheWire
import Glibc
import Logging
import ServiceLifecycle
import SystemPackage
import UnixSignals

/// The daemon: resolves its settings, opens the cache, serves the socket until a signal ends it.
@main
struct CachedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached",
        abstract: "Downloads images once for every program on the machine and keeps them as files.",
        discussion: """
            Runs in the foreground and logs to standard error; ends on SIGTERM or SIGINT. Each option \
            may also be set by the environment variable named with it, or in the configuration file: \
            options win over the environment, and that over the file.
            """,
        version: Version.current)

    @OptionGroup var options: DaemonOptions

    static func main() async {
        // A signal that comes before anybody takes it must not end the daemon, as it does by default.
        for number in [SIGPIPE, SIGHUP, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        clinux_remember_end()
        clinux_take_standard_descriptors()
        // Names of hosts are UTF-8, whatever the caller writes in: libidn2 goes by the locale. setlocale(3)
        setlocale(LC_CTYPE, "C.UTF-8")
        ProcessMemory.keepLittle()
        await main(nil)
    }

    func run() async throws {
        do {
            if let problem = ProgramArguments.problem { throw StartFailure.configuration(problem) }
            let settings = try Settings.resolve(options, try Environment.all())
            try await serve(settings)
        } catch let failure as StartFailure {
            FileDescriptor.standardError.writeLine("cached: \(failure.message)")
            throw failure.exitCode
        }
    }

    private func serve(_ settings: Settings) async throws {
        var logger = Logger(label: "cached", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = settings.logLevel
        try DescriptorLimit.raise(logger)
        var settings = settings
        DescriptorLimit.apply(to: &settings.cache, logger)
        let server = try SocketServer(settings, logger: logger)
        let reload = Reload(server: server, logger: logger) { [options] in
            try Settings.resolve(options, try Environment.all())
        }
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

extension FileDescriptor {
    /// Writes a line; if nobody can read it, there is nobody to tell.
    fileprivate func writeLine(_ text: String) {
        _ = try? writeAll((text + "\n").utf8)
    }
}
