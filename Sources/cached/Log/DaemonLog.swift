import Logging

/// Passes the messages of a logger on to the daemon's log: first the message, then its fields in alphabetical order.
struct DaemonLog: LogHandler {
    let output: LogOutput
    var metadata: Logger.Metadata = [:]

    /// The level of all loggers of the daemon.
    var logLevel: Logger.Level {
        get { output.settings.level }
        set { output.update { $0.level = newValue } }
    }

    init(_ output: LogOutput) {
        self.output = output
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { fields["error"] = "\(error)" }
        output.write(
            event.level, "\(event.message)",
            fields.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") })
    }
}
