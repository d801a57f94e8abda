import Logging
import ServiceLifecycle
import UnixSignals

/// On `SIGHUP` reads the configuration again and applies the limits; the rest needs a restart.
struct Reload: Service {
    let server: SocketServer
    let logger: Logger
    let settings: @Sendable () throws -> Settings

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() { reload() }
    }

    /// A configuration that can't be used changes nothing.
    private func reload() {
        do {
            let settings = try settings()
            try server.apply(settings)
            logger.info(
                "configuration read again: the limits of space are in force, all else needs a restart",
                metadata: ["file": "\(settings.file ?? "none")"])
        } catch {
            let reason = (error as? StartFailure)?.message ?? "\(error)"
            logger.error(
                "the configuration can't be used; the limits stay as they were",
                metadata: ["reason": "\(reason)"])
        }
    }
}
