/// Writes cells one after the other, and says how they look only where that changes.
struct SGRWriter {
    let terminal: TerminalCapabilities
    private var style = TextStyle.plain
    private var isSelected = false

    init(terminal: TerminalCapabilities) {
        self.terminal = terminal
    }

    mutating func write(_ cell: Cell, to text: inout String) {
        guard !cell.isContinuation else { return }
        if cell.style != style || cell.isSelected != isSelected {
            style = cell.style
            isSelected = cell.isSelected
            text += "\u{1B}[0\(style.rendition(terminal.colors))\(isSelected ? ";7" : "")m"
        }
        text += shown(cell.character)
    }

    /// What stands for a character in all its columns where the terminal knows ASCII only.
    private func shown(_ character: Character) -> String {
        terminal.isUnicode || character.isASCII
            ? String(character) : String(repeating: "?", count: character.columns)
    }

    /// Goes back to the plain rendition.
    mutating func reset(_ text: inout String) {
        guard style != .plain || isSelected else { return }
        style = .plain
        isSelected = false
        text += "\u{1B}[0m"
    }
}
