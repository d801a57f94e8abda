/// Aligns the columns of rows. The last column is not padded.
///
/// Columns can grow from one call to the next but never shrink, so that a long list can be printed
/// page by page.
struct Table {
    /// The side to which the text of a column is aligned.
    enum Alignment { case left, right }

    private let alignments: [Alignment]
    private var widths: [Int]
    /// The width of the terminal; `nil` for no limit. The last column is cut to it.
    private let columns: Int?
    /// Shows the cut.
    private let mark: String

    init(
        _ alignments: [Alignment], columns: Int? = nil,
        mark: String = TerminalCapabilities.ofEnvironment.ellipsis
    ) {
        self.alignments = alignments
        self.columns = columns
        self.mark = mark
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
            let isLast = column == row.count - 1
            let cell = isLast ? cut(cell, behind: line) : cell
            let padding = String(repeating: " ", count: max(0, widths[column] - cell.columns))
            switch alignments[column] {
            case .right: line += padding + cell
            case .left: line += isLast ? cell : cell + padding
            }
            line += isLast ? "" : "  "
        }
        return line
    }

    private func cut(_ cell: String, behind line: String) -> String {
        guard let columns else { return cell }
        return cell.middle(columns: columns - line.columns, mark: mark)
    }
}
