/// The cells to which a picture is scaled. Both sides are `nil` if the picture fits as it is.
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
    /// Scales a picture to a terminal, if it is too large. Only the side that exceeds the terminal
    /// more is set, and the terminal derives the other. A terminal that does not report its pixels
    /// is assumed to have cells of 8 by 16.
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
