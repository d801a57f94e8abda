import Logging
import ServiceLifecycle
import UnixSignals

/// On `SIGHUP` reads the configuration again and applies the limits; the rest needs a restart.
struct Reload: Service {
    let server: SocketServer
    let logger: Logger
    let settings: @Sendable () async throws -> Settings

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() { await reload() }
    }

    /// A configuration that can't be used changes nothing.
    private func reload() async {
        do {
            try server.apply(try await settings())
            logger.info(
                "configuration read again: the limits of space are in force, all else needs a restart"
            )
        } catch {
            let reason = (error as? StartFailure)?.message ?? "\(error)"
            logger.error(
                "the configuration can't be used; the limits stay as they were",
                metadata: ["reason": "\(reason)"])
        }
    }
}
