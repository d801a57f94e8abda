import CacheWire

/// A line of styled text, as cells.
struct StyledLine: Hashable {
    private(set) var cells: [Cell] = []

    init() {}

    init(_ text: String, _ style: TextStyle = .plain) {
        append(text, style)
    }

    var columns: Int { cells.count }

    /// The text without its styles.
    var text: String { String(cells.lazy.filter { !$0.isContinuation }.map(\.character)) }

    /// Appends text. Terminal controls in it are escaped, wherever they come from.
    mutating func append(_ text: String, _ style: TextStyle = .plain) {
        for character in text.printable {
            cells.append(Cell(character: character, style: style))
            if character.columns == 2 { cells.append(.continuation(style)) }
        }
    }

    /// Appends text that ends `width` columns from here, or further to the right if it is longer.
    mutating func append(_ text: String, width: Int, _ style: TextStyle = .plain) {
        append(String(repeating: " ", count: max(0, width - text.columns)) + text, style)
    }

    mutating func append(_ line: StyledLine) {
        cells += line.cells
    }

    /// Adds spaces until the line is `columns` wide.
    mutating func pad(to columns: Int) {
        guard cells.count < columns else { return }
        cells += repeatElement(.blank, count: columns - cells.count)
    }

    /// The line, cut to `limit` columns.
    func prefix(columns limit: Int) -> StyledLine {
        guard cells.count > limit else { return self }
        var line = self
        line.cells.removeLast(cells.count - max(0, limit))
        // If the cut splits a wide character, a space replaces its first half.
        if cells[line.cells.count].isContinuation, !line.cells.isEmpty {
            line.cells[line.cells.count - 1] = .blank
        }
        return line
    }

    /// The line as the selected one, padded to `columns`.
    func selected(columns: Int) -> StyledLine {
        var line = prefix(columns: columns)
        line.pad(to: columns)
        for index in line.cells.indices { line.cells[index].isSelected = true }
        return line
    }

    /// The line with one style for all cells.
    func styled(_ style: TextStyle) -> StyledLine {
        var line = self
        for index in line.cells.indices { line.cells[index].style = style }
        return line
    }

    /// The line with escape sequences. It ends in the plain rendition.
    func encoded(_ terminal: TerminalCapabilities) -> String {
        var writer = SGRWriter(terminal: terminal)
        var text = ""
        for cell in cells { writer.write(cell, to: &text) }
        writer.reset(&text)
        return text
    }
}
