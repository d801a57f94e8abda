import Logging

/// The messages that the log shows.
struct LogSettings: Sendable, Equatable {
    var level = Logger.Level.info
    var format = LogFormat.text
    /// Whether the queries of URLs are shown, which can contain secrets.
    var showsQueries = false
}
