import CacheCore
import CacheWire
import Glibc
import Logging
import Synchronization

/// The daemon from the opening of its cache to its end.
struct Daemon {
    private let settings: Settings
    private let options: DaemonOptions
    private let log: LogOutput
    private let logger: Logger
    private let manager: ServiceManager
    private let server: SocketServer
    private let isDetached: Bool

    /// Opens the cache and binds the socket.
    init(
        _ settings: Settings, _ options: DaemonOptions, _ environment: [String: String],
        _ passed: PassedSocket?, isDetached: Bool
    ) throws {
        (self.options, self.isDetached) = (options, isDetached)
        log = LogOutput(settings.log)
        logger = log.logger
        try DescriptorLimit.raise(logger)
        Self.warn(about: settings, logger)
        manager = ServiceManager(environment, logger: logger)
        var settings = settings
        if settings.restriction == .auto {
            settings.restriction = isDetached || manager.isListening ? .yes : .partly
        }
        self.settings = settings
        server = try SocketServer(
            try settings.prepared(logger), passed: passed, manager: manager, logger: logger)
    }

    /// Serves until a signal stops the daemon.
    func run() throws {
        try server.start()
        if isDetached { Detachment.complete() }
        if manager.isListening { startReports() }
        handleSignals()
        try server.stop()
        if let failure = server.failure.withLock({ $0 }) { throw failure }
    }

    private func startReports() {
        StatusReports(manager: manager) { [server] in server.statusLine }.start(on: server.loop)
        guard let limit = manager.watchdog else { return }
        Watchdog(manager: manager, limit: limit) { [server] in server.takeTurn($0) }
            .start(on: server.loop)
    }

    /// Returns when a signal stops the daemon.
    private func handleSignals() {
        var reload = Reload(
            server: server, manager: manager, log: log, settings: settings, options: options)
        while true {
            switch server.signals.next() {
            case SIGHUP: reload.run()
            // These are for people and scripts. They never wait for a cool-down.
            case SIGUSR1: server.pressure.request(.warning, source: "SIGUSR1")
            case SIGUSR2: server.pressure.request(.critical, source: "SIGUSR2")
            default: return
            }
        }
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
        settings.reportStore(logger)
    }
}
