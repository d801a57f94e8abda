/// Writes cells one after the other, and says how they look only where that changes.
struct Pen {
    let look: Look
    private var ink = Ink.plain
    private var isChosen = false

    init(look: Look) {
        self.look = look
    }

    mutating func write(_ cell: Cell, to text: inout String) {
        guard !cell.isContinuation else { return }
        if cell.ink != ink || cell.isChosen != isChosen {
            ink = cell.ink
            isChosen = cell.isChosen
            text += "\u{1B}[0\(ink.rendition(look.colors))\(isChosen ? ";7" : "")m"
        }
        text += shown(cell.character)
    }

    /// What stands for a character in all its columns where the terminal knows ASCII only.
    private func shown(_ character: Character) -> String {
        look.isUnicode || character.isASCII
            ? String(character) : String(repeating: "?", count: character.columns)
    }

    /// Goes back to the plain rendition.
    mutating func reset(_ text: inout String) {
        guard ink != .plain || isChosen else { return }
        ink = .plain
        isChosen = false
        text += "\u{1B}[0m"
    }
}
