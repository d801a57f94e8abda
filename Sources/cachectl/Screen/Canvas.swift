/// A whole screen as it is to look.
struct Canvas: Hashable {
    let columns: Int
    /// All of the same length.
    private(set) var lines: [[Cell]]

    init(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = Array(repeating: Array(repeating: .blank, count: columns), count: lines)
    }

    /// Puts a line into its place, cut off where the screen ends; there is no line outside of it.
    mutating func put(_ line: StyledLine, at index: Int) {
        guard lines.indices.contains(index) else { return }
        var line = line.prefix(columns: columns)
        line.pad(to: columns)
        lines[index] = line.cells
    }

    /// What can be read on it, line by line, without spaces at the ends.
    var text: [String] {
        lines.map { cells in
            var text = String(cells.lazy.filter { !$0.isContinuation }.map(\.character))
            while text.last == " " { text.removeLast() }
            return text
        }
    }
}
