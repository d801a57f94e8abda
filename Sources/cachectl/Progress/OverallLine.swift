/// Draws the overall progress on one line: a ring, a count, a bar, the rate, the time left and a
/// label.
struct OverallLine {
    let terminal: TerminalCapabilities
    let columns: Int

    /// From this width on there is room for the rate and the time left.
    private static let roomy = 60

    func line(_ overall: OverallProgress) -> StyledLine {
        var line = StyledLine(Sign(terminal: terminal).ring(overall.fraction), .done)
        line.append(" \(overall.finished)/\(overall.total)", .strong)
        if overall.failed > 0 { line.append(", \(overall.failed) failed", .failure) }
        line.append(" ")
        line.append(Bar(terminal: terminal, width: columns / 4).line(overall.fraction))
        if columns >= Self.roomy {
            let rate = overall.bytesPerSecond.map {
                ByteCountText.describe(Int(saturating: $0)) + "/s"
            }
            let left = overall.secondsLeft.map { LocalTime.span(seconds: $0) + " left" }
            for text in [rate, left].compactMap(\.self) { line.append("  " + text) }
        }
        line.append("  ")
        let room = columns - line.columns
        line.append(
            overall.label?.shortURL(columns: max(0, room), mark: terminal.ellipsis) ?? "", .faint)
        return line.prefix(columns: columns)
    }
}
