import CacheCore
import Logging
import ServiceLifecycle
import UnixSignals

/// The daemon from the opening of its cache to its end.
struct Daemon {
    private let settings: Settings
    private let options: DaemonOptions
    private let log: LogOutput
    private let logger: Logger
    private let manager: ServiceManager
    private let server: SocketServer

    /// Opens the cache and binds the socket.
    init(
        _ settings: Settings, _ options: DaemonOptions, _ environment: [String: String],
        _ passed: PassedSocket?
    ) throws {
        (self.settings, self.options) = (settings, options)
        log = LogOutput(settings.log)
        logger = log.logger
        try DescriptorLimit.raise(logger)
        Self.warn(about: settings, logger)
        manager = ServiceManager(environment, logger: logger)
        server = try SocketServer(
            try settings.prepared(logger), passed: passed, manager: manager, logger: logger)
    }

    /// Serves until a signal stops the daemon.
    func run() async throws {
        let reload = await Reload(
            server: server, manager: manager, log: log, settings: settings, options: options)
        let signals = await PressureSignals(monitor: server.pressure)
        let others: [any Service] = [reload, signals] + reports
        var services = others.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        // The last one stops first. It also ends by itself if it is idle.
        services.append(
            .init(service: server, successTerminationBehavior: .gracefullyShutdownGroup))
        let group = ServiceGroup(
            configuration: .init(
                services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }

    private var reports: [any Service] {
        guard manager.isListening else { return [] }
        let status = StatusReports(manager: manager) { server.statusLine }
        let watchdog = manager.watchdog.map {
            Watchdog(manager: manager, limit: $0) { server.takeTurn($0) }
        }
        return [status] + [watchdog].compactMap(\.self)
    }

    private static func warn(about settings: Settings, _ logger: Logger) {
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
        settings.warnOfStore(logger)
    }
}
