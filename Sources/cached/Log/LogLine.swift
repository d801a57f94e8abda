import CacheWire
import Glibc
import Logging

/// One message of the log. Its texts can come from outside, so every format escapes what could command a terminal.
struct LogLine {
    let level: Logger.Level
    let message: String
    /// Names and values, in order.
    let fields: [(name: String, value: String)]
    let time: time_t

    /// - Parameter showsQueries: whether queries of URLs are shown.
    init(
        level: Logger.Level, message: String, fields: [(name: String, value: String)] = [],
        time: time_t, showsQueries: Bool
    ) {
        let shown = { (text: String) in showsQueries ? text : text.withoutQueries }
        self.level = level
        self.message = shown(message)
        self.fields = fields.map { ($0.name, shown($0.value)) }
        self.time = time
    }

    func text(_ format: LogFormat) -> String {
        switch format {
        case .text: "\(timestamp) \(level.rawValue): \(words)"
        case .journal: "<\(level.priority)>\(words)"
        case .json: json
        }
    }

    private var words: String {
        ([message.printable] + fields.map { "\($0.name)=\($0.value.printable.quoted)" })
            .joined(separator: " ")
    }

    private var json: String {
        let members =
            [("time", timestamp), ("level", level.rawValue), ("message", message)]
            + fields.map { ($0.name, $0.value) }
        return "{"
            + members.map { "\($0.printableJSON):\($1.printableJSON)" }
            .joined(separator: ",") + "}"
    }

    /// The local time in the form of RFC 3339. strftime(3).
    private var timestamp: String {
        var moment = time
        var parts = tm()
        localtime_r(&moment, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { room in
            guard let start = room.baseAddress else { return "" }
            strftime(start, room.count, "%Y-%m-%dT%H:%M:%S%z", &parts)
            return String(cString: start)
        }
    }
}

extension Logger.Level {
    /// syslog(3), "Values for level".
    var priority: Int32 {
        switch self {
        case .trace, .debug: LOG_DEBUG
        case .info: LOG_INFO
        case .notice: LOG_NOTICE
        case .warning: LOG_WARNING
        case .error: LOG_ERR
        case .critical: LOG_CRIT
        }
    }
}

extension String {
    /// The text, in quotation marks if it would not be one word without them.
    fileprivate var quoted: String {
        guard isEmpty || contains(where: { " \"=".contains($0) }) else { return self }
        return "\"\(replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#))\""
    }

    /// The text with the query and the user of each URL in it cut out, because they can be secrets.
    var withoutQueries: String {
        guard contains("://") else { return self }
        return replacing(/(:\/\/)[^\/?#\s@"']*@/) { "\($0.1)…@" }
            .replacing(/(:\/\/[^\s?"'<>]*\?)[^\s"'<>]*/) { "\($0.1)…" }
    }
}
