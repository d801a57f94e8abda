import CacheCore
import Logging
import ServiceLifecycle
import UnixSignals

/// On `SIGHUP` reads the configuration again and applies the space limits. Other settings need a restart.
struct Reload: Service {
    let server: SocketServer
    let logger: Logger
    let settings: @Sendable () throws -> Settings

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() { reload() }
    }

    /// An invalid configuration changes nothing.
    private func reload() {
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
        } catch {
            let reason = (error as? StartFailure)?.message ?? "\(error)"
            logger.error(
                "configuration is invalid, limits unchanged; correct it and send SIGHUP again",
                metadata: ["reason": "\(reason)"])
        }
    }

    private func text(_ limit: (some BinaryInteger)?) -> Logger.MetadataValue {
        "\(limit.map { String($0) } ?? "default")"
    }
}
