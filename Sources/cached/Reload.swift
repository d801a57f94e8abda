import CacheCore
import Logging
import ServiceLifecycle
import UnixSignals

/// On `SIGHUP` reads the configuration again and applies the space limits. Other settings need a restart.
struct Reload: Service {
    private let server: SocketServer
    private let manager: ServiceManager
    private let logger: Logger
    private let settings: @Sendable () throws -> Settings
    private let signals: UnixSignalsSequence

    /// Handles the signal from here on. The service manager can send it as soon as the daemon is ready.
    init(
        server: SocketServer, manager: ServiceManager, logger: Logger,
        settings: @escaping @Sendable () throws -> Settings
    ) async {
        (self.server, self.manager, self.logger) = (server, manager, logger)
        self.settings = settings
        signals = await UnixSignalsSequence(trapping: .sighup)
    }

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            manager.reloading()
            manager.ready(reload() ?? server.statusLine)
        }
    }

    /// An invalid configuration changes nothing. Returns what is wrong with it.
    private func reload() -> String? {
        do {
            let settings = try settings()
            try server.apply(settings)
            let limits = settings.cache.limits
            logger.info(
                "configuration read again: space limits applied, other changes need a restart",
                metadata: [
                    "file": "\(settings.file ?? "none")",
                    "max-bytes": text(limits.maximumBytes), "min-free": text(limits.minimumFree),
                    "max-entries": text(limits.maximumEntries),
                    "max-image-bytes": text(limits.maximumImageSize),
                ])
            return nil
        } catch {
            let reason = (error as? StartFailure)?.message ?? "\(error)"
            logger.error(
                "configuration is invalid, limits unchanged; correct it and send SIGHUP again",
                metadata: ["reason": "\(reason)"])
            return "The configuration is invalid and was not applied: \(reason)"
        }
    }

    private func text(_ limit: (some BinaryInteger)?) -> Logger.MetadataValue {
        "\(limit.map { String($0) } ?? "default")"
    }
}
