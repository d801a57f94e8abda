/// Draws a fetch: one download by itself; of many the whole and the few that are at work. Pure: the
/// same board, size and time give the same lines.
struct FetchView {
    let look: Look
    /// No line is longer, nor as long, since a full line wraps.
    let size: TerminalSize
    let time: ScreenTime

    /// More would push what was there before off the screen.
    private static let downloads = 6

    func lines(_ board: FetchBoard) -> [StyledLine] {
        guard board.isActive, size.columns > 1 else { return [] }
        let columns = size.columns - 1
        let line = DownloadLine(look: look, columns: columns, time: time)
        let isOne = board.downloads.count == 1
        // One line stays free for the cursor.
        let room = max(1, size.lines - 1)
        let top =
            isOne ? [] : [OverallLine(look: look, columns: columns).line(board.overall)]
        let shown = board.active(min(Self.downloads, room - top.count)).map(line.line)
        return (top + shown).map { $0.prefix(columns: columns) }
    }
}
