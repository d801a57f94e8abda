/// Writes cells one after the other. It writes Select Graphic Rendition sequences only if the style
/// changes.
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

    /// The character, or question marks of the same width if the terminal supports only ASCII.
    private func shown(_ character: Character) -> String {
        terminal.isUnicode || character.isASCII
            ? String(character) : String(repeating: "?", count: character.columns)
    }

    /// Returns to the plain rendition.
    mutating func reset(_ text: inout String) {
        guard style != .plain || isSelected else { return }
        style = .plain
        isSelected = false
        text += "\u{1B}[0m"
    }
}
