/// Aligns the columns of rows. The last column is not padded.
///
/// Columns can grow from one call to the next but never shrink, so that a long list can be printed
/// page by page.
struct Table {
    /// The side to which the text of a column is aligned.
    enum Alignment { case left, right }

    private let alignments: [Alignment]
    private var widths: [Int]

    init(_ alignments: [Alignment]) {
        self.alignments = alignments
        widths = alignments.map { _ in 0 }
    }

    /// Formats rows as lines. Each row needs one cell for each column.
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
