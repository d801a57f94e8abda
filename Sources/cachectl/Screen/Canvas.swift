/// The content of a whole screen.
struct Canvas: Hashable {
    let columns: Int
    /// All lines have the same length.
    private(set) var lines: [[Cell]]

    init(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = Array(repeating: Array(repeating: .blank, count: columns), count: lines)
    }

    /// Replaces the line at `index`, cut at the right edge. An index outside the screen is ignored.
    mutating func put(_ line: StyledLine, at index: Int) {
        guard lines.indices.contains(index) else { return }
        var line = line.prefix(columns: columns)
        line.pad(to: columns)
        lines[index] = line.cells
    }

    /// The text of each line, without trailing spaces.
    var text: [String] {
        lines.map { cells in
            var text = String(cells.lazy.filter { !$0.isContinuation }.map(\.character))
            while text.last == " " { text.removeLast() }
            return text
        }
    }
}
