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
    /// How much of something is taken, 0 to 1, to be drawn as a bar; `nil` if it is about no amount.
    var share: Double?

    static func ok(_ message: String, share: Double? = nil) -> Finding {
        Finding(level: .ok, message: message, share: share)
    }

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

extension Finding {
    /// The bar behind the first line.
    func bar(_ terminal: TerminalCapabilities) -> StyledLine {
        guard let share else { return StyledLine() }
        var line = StyledLine("  ")
        line.append(
            Bar(terminal: terminal, width: 12).line(share, share > 0.95 ? .warning : .done))
        return line
    }
}
