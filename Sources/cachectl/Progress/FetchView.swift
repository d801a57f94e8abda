/// Draws a fetch: one download by itself; of many the whole and the few that are at work. Pure: the
/// same board, size and time give the same lines.
struct FetchView {
    let terminal: TerminalCapabilities
    /// No line is longer, nor as long, since a full line wraps.
    let size: TerminalSize
    let time: ScreenTime

    /// More would push what was there before off the screen.
    private static let downloads = 6

    func lines(_ progress: FetchProgress) -> [StyledLine] {
        guard progress.isActive, size.columns > 1 else { return [] }
        let columns = size.columns - 1
        let line = DownloadLine(terminal: terminal, columns: columns, time: time)
        let isOne = progress.downloads.count == 1
        // One line stays free for the cursor.
        let room = max(1, size.lines - 1)
        let top =
            isOne ? [] : [OverallLine(terminal: terminal, columns: columns).line(progress.overall)]
        let shown = progress.active(min(Self.downloads, room - top.count)).map(line.line)
        return (top + shown).map { $0.prefix(columns: columns) }
    }
}
