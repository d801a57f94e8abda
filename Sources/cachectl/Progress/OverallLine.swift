/// How far all is that is to do.
struct Overall: Hashable {
    /// Downloads that ended, one way or the other.
    var finished: Int
    /// All that were begun.
    var total: Int
    /// From 0 to 1.
    var fraction: Double
    /// The latest of them.
    var label: String?
}

/// Draws the overall progress on one line: ring, count, bar and a label.
struct OverallLine {
    let look: Look
    let columns: Int

    func line(_ overall: Overall) -> StyledLine {
        var line = StyledLine(Ring(look: look).filled(overall.fraction), .done)
        line.append(" \(overall.finished)/\(overall.total) ", .strong)
        let bar = Bar(look: look, width: columns / 3)
        line.append(bar.line(overall.fraction))
        line.append("  ")
        let room = columns - line.columns
        line.append(overall.label?.shortURL(columns: room, mark: look.ellipsis) ?? "")
        return line.prefix(columns: columns)
    }
}
