import CacheWire

/// The line that names the keys of a view. A narrow screen still shows all keys, but explains fewer
/// of them.
struct KeyHints {
    private let hints: [(key: String, text: String)]

    private static let gap = 2

    init(terminal: TerminalCapabilities, model: TopModel) {
        hints = [("q", "quit"), ("?", "help")] + Self.own(model)
    }

    private static func own(_ model: TopModel) -> [(key: String, text: String)] {
        if model.isHelpShown { return [("any key", "back")] }
        if let details = model.details {
            let drop = details.state == .cached ? "remove" : "cancel"
            return [("esc", "back"), ("r", "fetch"), ("x", drop), ("p", "pin"), ("y", "copy")]
        }
        let common = [("tab", "view"), ("/", "filter")]
        return switch model.view {
        case .downloads:
            common + [("enter", "details"), ("x", "cancel"), ("r", "retry"), ("c", "clear failed")]
        case .cached:
            common + [
                ("enter", "details"), ("x", "remove"), ("r", "refresh"), ("p", "pin"),
                ("n", "newest"), ("l", "largest"), ("u", "unused"),
            ]
        case .hosts: common + [("enter", "images"), ("r", "count again")]
        case .users: [("tab", "view")]
        }
    }

    func line(columns: Int) -> StyledLine {
        let explained = explained(columns: columns)
        var line = StyledLine()
        for (index, hint) in hints.enumerated() {
            if index > 0 { line.append(String(repeating: " ", count: gap(columns))) }
            line.append(hint.key, .strong)
            if explained.contains(index) { line.append(" " + hint.text, .faint) }
        }
        return line
    }

    /// On a very narrow screen all keys fit only with single spaces.
    private func gap(_ columns: Int) -> Int {
        let keys = hints.reduce(0) { $0 + $1.key.columns }
        return keys + (hints.count - 1) * Self.gap <= columns ? Self.gap : 1
    }

    /// The indices of the explained keys. The keys that most programs have are explained last.
    private func explained(columns: Int) -> Set<Int> {
        var room = columns - (hints.count - 1) * Self.gap
        room -= hints.reduce(0) { $0 + $1.key.columns }
        let order = hints.indices.map { ($0 + 2) % hints.count }
        return Set(
            order.filter { index in
                let width = hints[index].text.columns + 1
                guard width > 1, width <= room else { return false }
                room -= width
                return true
            })
    }
}
