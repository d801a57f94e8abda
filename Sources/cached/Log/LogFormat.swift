import Glibc

/// The form of the lines of the log.
enum LogFormat: String, Sendable {
    /// The time, the level, the message and the fields.
    case text
    /// The priority, the message and the fields; the journal adds the time. sd-daemon(3).
    case journal
    /// One object a line.
    case json

    /// `journal` if standard error leads to the journal, else `text`.
    static var usual: LogFormat { leadsToJournal ? .journal : .text }

    /// Whether `JOURNAL_STREAM` has the device and the inode of standard error. A program that inherited the variable
    /// can have another standard error. systemd.exec(5).
    private static var leadsToJournal: Bool {
        var status = stat()
        guard let stream = getenv("JOURNAL_STREAM"), fstat(STDERR_FILENO, &status) == 0 else {
            return false
        }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }
}
