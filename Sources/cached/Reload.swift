import CacheWire
import Logging

/// Reads the configuration again and applies what can change while the daemon runs.
struct Reload {
    private let server: SocketServer
    private let manager: ServiceManager
    private let log: LogOutput
    private let logger: Logger
    private let options: DaemonOptions
    /// The settings in force.
    private var settings: Settings

    init(
        server: SocketServer, manager: ServiceManager, log: LogOutput, settings: Settings,
        options: DaemonOptions
    ) {
        (self.server, self.manager, self.log, self.settings) = (server, manager, log, settings)
        self.options = options
        logger = log.logger
    }

    mutating func run() {
        manager.reloading()
        manager.ready(reload() ?? server.statusLine)
    }

    /// An invalid configuration changes nothing. Returns what is wrong with it.
    private mutating func reload() -> String? {
        do {
            let new = try Settings.resolve(
                options, try Environment.all(), running: settings)
            try server.apply(try new.prepared(logger))
            log.update { $0 = new.log }
            report(new, changed: new.values.differences(from: settings.values))
            settings = new
            return nil
        } catch {
            let reason = (error as? StartFailure)?.message ?? "\(error)"
            logger.error(
                "configuration is invalid, settings unchanged; correct it and send SIGHUP again",
                metadata: ["reason": "\(reason)"])
            return "The configuration is invalid and was not applied: \(reason)"
        }
    }

    private func report(_ new: Settings, changed: [String]) {
        logger.info(
            "configuration read again",
            metadata: [
                "files": "\(new.files.isEmpty ? "none" : new.files.joined(separator: ", "))",
                "changed": "\(changed.isEmpty ? "nothing" : changed.joined(separator: ", "))",
            ])
        guard !new.pending.isEmpty else { return }
        logger.warning(
            "some new settings need a restart of the daemon; until then the old values count",
            metadata: ["settings": "\(new.pending.joined(separator: ", "))"])
    }
}
