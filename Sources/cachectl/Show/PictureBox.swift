/// How much of the terminal a picture gets, in cells, where it is too large for it; else nothing.
struct PictureBox: Hashable {
    var columns: Int?
    var lines: Int?

    var kitty: String {
        (columns.map { ",c=\($0)" } ?? "") + (lines.map { ",r=\($0)" } ?? "")
    }

    var inline: String {
        (columns.map { ";width=\($0)" } ?? "") + (lines.map { ";height=\($0)" } ?? "")
    }
}

extension PictureBox {
    /// Fits a picture to a terminal of so many cells and pixels; one that does not tell its pixels has
    /// cells of 8 by 16. Only the side that is too large by more is given: the other follows.
    init(width: Int?, height: Int?, cells: TerminalSize, pixels: TerminalSize?) {
        self.init()
        guard let width, let height else { return }
        let room = pixels ?? TerminalSize(columns: cells.columns * 8, lines: cells.lines * 16)
        let excess = Double(width) / Double(room.columns)
        let depth = Double(height) / Double(room.lines)
        guard max(excess, depth) > 1 else { return }
        if excess >= depth { columns = cells.columns } else { lines = max(1, cells.lines - 1) }
    }
}
