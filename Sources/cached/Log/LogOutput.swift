import CacheWire
import Glibc
import Logging
import Synchronization
import SystemPackage

/// Writes the log to standard error. All loggers of the daemon share it, so that new settings count for all of them.
final class LogOutput: Sendable {
    private let current: Mutex<LogSettings>

    init(_ settings: LogSettings) {
        current = Mutex(settings)
    }

    /// A logger that writes here.
    var logger: Logger { Logger(label: "cached") { _ in DaemonLog(self) } }

    var settings: LogSettings { current.withLock { $0 } }

    func update(_ change: (inout LogSettings) -> Void) { current.withLock { change(&$0) } }

    /// Writes one line in one call, so that lines of several threads do not mix. A failure is ignored, because there
    /// is no other place to report it.
    func write(_ level: Logger.Level, _ message: String, _ fields: [(name: String, value: String)])
    {
        let settings = settings
        let line = LogLine(
            level: level, message: message, fields: fields, time: time(nil),
            showsQueries: settings.showsQueries)
        Self.write(line.text(settings.format))
    }

    /// Writes why the daemon does not start, or starts without what it was given, for a person at a terminal or for the journal.
    static func writeFailure(_ message: String) {
        let mark = LogFormat.usual == .journal ? "<\(Logger.Level.error.priority)>" : ""
        write("\(mark)cached: \(message.printable)")
    }

    private static func write(_ line: String) {
        _ = try? FileDescriptor.standardError.writeAll((line + "\n").utf8)
    }
}
