/// The line that names the keys of a view. A narrow screen still shows all keys, but explains fewer
/// of them.
struct KeyHints {
    private let hints: [(key: String, text: String)]

    private static let gap = 2

    init(terminal: TerminalCapabilities, view: TopModel.View) {
        let arrows = terminal.isUnicode ? "↑↓" : "j/k"
        hints =
            [("q", "quit"), ("tab", "view")]
            + Self.own(view, arrows)
    }

    private static func own(_ view: TopModel.View, _ arrows: String) -> [(
        key: String, text: String
    )] {
        switch view {
        case .downloads: [(arrows, "scroll"), ("c", "clear failed")]
        case .cached:
            [
                (arrows, ""), ("p", "pin"), ("x", "remove"), ("r", "refresh"), ("n", "newest"),
                ("l", "largest"), ("u", "unused"),
            ]
        case .users: [(arrows, "scroll")]
        }
    }

    func line(columns: Int) -> StyledLine {
        let explained = explained(columns: columns)
        var line = StyledLine()
        for (index, hint) in hints.enumerated() {
            if index > 0 { line.append(String(repeating: " ", count: Self.gap)) }
            line.append(hint.key, .strong)
            if explained.contains(index) { line.append(" " + hint.text, .faint) }
        }
        return line
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
