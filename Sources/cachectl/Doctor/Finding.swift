/// An observation of `doctor`.
struct Finding: Hashable {
    enum Level: String {
        case ok
        /// Worth knowing, but the daemon works.
        case note
        case wrong
    }

    var level: Level
    /// One sentence for a person.
    var message: String
    /// The remedy.
    var fix: String?

    static func ok(_ message: String) -> Finding { Finding(level: .ok, message: message) }

    static func note(_ message: String, fix: String? = nil) -> Finding {
        Finding(level: .note, message: message, fix: fix)
    }

    static func wrong(_ message: String, fix: String) -> Finding {
        Finding(level: .wrong, message: message, fix: fix)
    }
}
