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

extension Finding.Level {
    /// A line of the table, whose first word is the level.
    func styled(_ line: String) -> StyledLine {
        let word = line.prefix { $0 != " " }
        let style: TextStyle =
            switch self {
            case .ok: .done
            case .note: .warning
            case .wrong: .failure
            }
        var styled = StyledLine(String(word), style)
        styled.append(String(line.dropFirst(word.count)), word.isEmpty ? .strong : .plain)
        return styled
    }
}
