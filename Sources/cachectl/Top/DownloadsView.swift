/// The rows of what is under way and of what failed.
struct DownloadsView {
    let screen: TopScreen

    var rows: [StyledLine] {
        let line = DownloadLine(
            terminal: screen.terminal, columns: screen.columns, time: screen.time)
        let model = screen.model
        return model.table.rows[model.downloadRows.range].map { row in
            line.line(model.watched[row.url] ?? Download(row))
        }
    }
}

extension Download {
    /// A row of which no more is known than the table says.
    init(_ row: DownloadTable.Row) {
        self.init(url: row.url)
        if let failure = row.failure { failed(failure) }
    }
}
