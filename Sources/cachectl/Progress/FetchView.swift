/// Draws the progress of a fetch. A single download gets one line. Several downloads get an overall
/// line and a line for each of the running ones. Pure: the same progress, size and time give the
/// same lines.
struct FetchView {
    let terminal: TerminalCapabilities
    /// Every line is shorter than the terminal is wide, because a full line would wrap.
    let size: TerminalSize
    let time: LocalTime

    /// More lines would push earlier output off the screen.
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
