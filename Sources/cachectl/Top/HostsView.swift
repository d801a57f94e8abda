import CacheWire

/// Draws a row for each host of images and downloads.
struct HostsView {
    let screen: TopScreen

    private var model: TopModel { screen.model }

    var heads: StyledLine {
        var line = line(
            images: "IMAGES", bytes: "SIZE", underWay: isWide ? "UNDER WAY" : "RUN",
            failed: "FAILED")
        if isWide { line.append(String(repeating: " ", count: 14)) }
        line.append("HOST" + (model.hosts.isComplete ? "" : ", still being read"))
        return line.styled(.faint)
    }

    var rows: [StyledLine] {
        let most = model.shownHosts.map(\.bytes).max() ?? 0
        return screen.selecting(
            model.hostRows,
            model.shownHosts[model.hostRows.range].map { row in
                var line = line(
                    images: CountText.describe(row.images),
                    bytes: ByteCountText.describe(row.bytes),
                    underWay: row.underWay > 0 ? CountText.describe(row.underWay) : "",
                    failed: row.failed > 0 ? CountText.describe(row.failed) : "")
                if isWide {
                    let share = most > 0 ? Double(row.bytes) / Double(most) : 0
                    line.append(Bar(terminal: screen.terminal, width: 12).line(share))
                    line.append("  ")
                }
                let host = row.host.isEmpty ? "(the URL is not known)" : row.host
                line.append(
                    host.printable.middle(
                        columns: max(0, screen.columns - line.columns),
                        mark: screen.terminal.ellipsis))
                return line
            })
    }

    private var isWide: Bool { screen.columns >= 70 }

    private func line(images: String, bytes: String, underWay: String, failed: String) -> StyledLine
    {
        var line = StyledLine()
        let columns: [(String, Int, TextStyle)] = [
            (images, isWide ? 9 : 7, .plain), (bytes, isWide ? 9 : 8, .plain),
            (underWay, isWide ? 11 : 5, .done), (failed, isWide ? 8 : 0, .failure),
        ]
        for (text, width, style) in columns where width > 0 {
            line.append(text, width: width, style)
        }
        line.append("  ")
        return line
    }
}
