/// Draws the rows of the downloads view.
struct DownloadsView {
    let screen: TopScreen

    var rows: [StyledLine] {
        let line = DownloadLine(
            terminal: screen.terminal, columns: screen.columns, time: screen.time)
        let model = screen.model
        return model.table.rows[model.downloadRows.range].map { row in
            line.line(model.watched[row.url] ?? DownloadProgress(row))
        }
    }
}

extension DownloadProgress {
    /// A download of which only the table's row is known.
    init(_ row: DownloadTable.Row) {
        self.init(url: row.url)
        if let failure = row.failure { failed(failure) }
    }
}
