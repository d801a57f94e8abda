import CacheWire

/// Draws the rows of the downloads view.
struct DownloadsView {
    let screen: TopScreen

    var rows: [StyledLine] {
        let line = DownloadLine(
            terminal: screen.terminal, columns: screen.columns, time: screen.time)
        let model = screen.model
        return screen.selecting(
            model.downloadRows,
            model.downloads[model.downloadRows.range].map { row in
                // A row that has failed stays so, whatever is known about its image.
                let watched = row.failure == nil ? model.watched[row.url] : nil
                return line.line(
                    watched.flatMap { $0.item == nil ? nil : $0 } ?? DownloadProgress(Item(row)))
            })
    }
}
