/// Writes cells one after the other, and says how they look only where that changes.
struct Pen {
    let colors: Look.Colors
    private var ink = Ink.plain
    private var isChosen = false

    init(colors: Look.Colors) {
        self.colors = colors
    }

    mutating func write(_ cell: Cell, to text: inout String) {
        guard !cell.isContinuation else { return }
        if cell.ink != ink || cell.isChosen != isChosen {
            ink = cell.ink
            isChosen = cell.isChosen
            text += "\u{1B}[0\(ink.rendition(colors))\(isChosen ? ";7" : "")m"
        }
        text.append(cell.character)
    }

    /// Goes back to the plain rendition.
    mutating func reset(_ text: inout String) {
        guard ink != .plain || isChosen else { return }
        ink = .plain
        isChosen = false
        text += "\u{1B}[0m"
    }
}
