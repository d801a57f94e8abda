/// A line of text with inks, as cells.
struct StyledLine: Hashable {
    private(set) var cells: [Cell] = []

    init() {}

    init(_ text: String, _ style: TextStyle = .plain) {
        append(text, style)
    }

    var columns: Int { cells.count }

    /// The text without its inks.
    var text: String { String(cells.lazy.filter { !$0.isContinuation }.map(\.character)) }

    mutating func append(_ text: String, _ style: TextStyle = .plain) {
        for character in text {
            cells.append(Cell(character: character, style: style))
            if character.columns == 2 { cells.append(.continuation(style)) }
        }
    }

    mutating func append(_ line: StyledLine) {
        cells += line.cells
    }

    /// Adds spaces up to so many columns.
    mutating func pad(to columns: Int) {
        guard cells.count < columns else { return }
        cells += repeatElement(.blank, count: columns - cells.count)
    }

    /// The line cut off after so many columns.
    func prefix(columns limit: Int) -> StyledLine {
        guard cells.count > limit else { return self }
        var line = self
        line.cells.removeLast(cells.count - max(0, limit))
        // Half of a wide character is none.
        if cells[line.cells.count].isContinuation, !line.cells.isEmpty {
            line.cells[line.cells.count - 1] = .blank
        }
        return line
    }

    /// The line as the one a person has chosen, so many columns wide.
    func selected(columns: Int) -> StyledLine {
        var line = prefix(columns: columns)
        line.pad(to: columns)
        for index in line.cells.indices { line.cells[index].isSelected = true }
        return line
    }

    /// The line in one ink.
    func styled(_ style: TextStyle) -> StyledLine {
        var line = self
        for index in line.cells.indices { line.cells[index].style = style }
        return line
    }

    /// The line as a terminal takes it, its end in the plain rendition.
    func encoded(_ terminal: TerminalCapabilities) -> String {
        var writer = SGRWriter(terminal: terminal)
        var text = ""
        for cell in cells { writer.write(cell, to: &text) }
        writer.reset(&text)
        return text
    }
}
