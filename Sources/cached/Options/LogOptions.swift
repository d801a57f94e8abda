import ArgumentParser

/// Options for the log.
struct LogOptions: ParsableArguments {
    @Option(
        help: """
            The least severe messages that are logged: trace, debug, info, notice, warning or error \
            (CACHED_LOG_LEVEL; info by default).
            """)
    var logLevel: String?

    @Option(
        help: """
            The form of the log: text with times, journal with the priorities of syslog, json with one \
            object a line, or auto, which is journal if the journal reads it and text if not \
            (CACHED_LOG_FORMAT; auto by default).
            """)
    var logFormat: String?

    @Option(
        help: """
            Whether the log shows the query of a URL, yes or no, which can contain secrets \
            (CACHED_LOG_QUERIES; no by default).
            """)
    var logQueries: String?
}
