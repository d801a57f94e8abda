/// Rows with aligned columns; the last column is as long as it likes.
///
/// Columns may grow from one call to the next and never shrink, so that a list can be printed page
/// by page.
struct Table {
    /// Which side a column's text is pushed to.
    enum Alignment { case left, right }

    private let alignments: [Alignment]
    private var widths: [Int]

    init(_ alignments: [Alignment]) {
        self.alignments = alignments
        widths = alignments.map { _ in 0 }
    }

    /// The rows as lines; every row has one cell a column.
    mutating func lines(_ rows: [[String]]) -> [String] {
        for row in rows {
            for (column, cell) in row.enumerated() {
                widths[column] = max(widths[column], cell.columns)
            }
        }
        return rows.map(line)
    }

    private func line(_ row: [String]) -> String {
        var line = ""
        for (column, cell) in row.enumerated() {
            let padding = String(repeating: " ", count: widths[column] - cell.columns)
            switch alignments[column] {
            case .right: line += padding + cell
            case .left: line += column == row.count - 1 ? cell : cell + padding
            }
            line += column == row.count - 1 ? "" : "  "
        }
        return line
    }
}
