/// Draws the overall progress on one line: a ring, a count, a bar and a label.
struct OverallLine {
    let terminal: TerminalCapabilities
    let columns: Int

    func line(_ overall: OverallProgress) -> StyledLine {
        var line = StyledLine(Ring(terminal: terminal).filled(overall.fraction), .done)
        line.append(" \(overall.finished)/\(overall.total) ", .strong)
        let bar = Bar(terminal: terminal, width: columns / 3)
        line.append(bar.line(overall.fraction))
        line.append("  ")
        let room = columns - line.columns
        line.append(overall.label?.shortURL(columns: room, mark: terminal.ellipsis) ?? "")
        return line.prefix(columns: columns)
    }
}
