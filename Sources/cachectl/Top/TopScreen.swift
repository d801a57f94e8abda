import CacheWire

/// Draws `top`. Pure: the same model, terminal and time give the same screen.
struct TopScreen {
    let model: TopModel
    let terminal: TerminalCapabilities
    let time: LocalTime

    var columns: Int { model.size.columns }

    func canvas() -> Canvas {
        let layout = TopLayout(size: model.size, view: model.view)
        var canvas = Canvas(columns: columns, lines: model.size.lines)
        canvas.put(title, at: layout.title)
        if let line = layout.overall { canvas.put(overall, at: line) }
        let rows: [StyledLine]
        switch model.view {
        case .downloads:
            rows = DownloadsView(screen: self).rows
        case .cached:
            let view = CachedView(screen: self)
            if let line = layout.budget { canvas.put(view.budget, at: line) }
            if let line = layout.pressure { canvas.put(view.pressure, at: line) }
            if let line = layout.sparklines { canvas.put(view.sparklines, at: line) }
            if let line = layout.heads { canvas.put(view.heads, at: line) }
            rows = view.rows
        case .users:
            let view = UsersView(screen: self)
            if let line = layout.heads { canvas.put(view.heads, at: line) }
            rows = view.rows
        }
        for (line, row) in zip(layout.rows, rows) { canvas.put(row, at: line) }
        canvas.put(keys, at: layout.keys)
        return canvas
    }

    /// When a time on the screen will have passed, so that the screen must be drawn again.
    var outdatedAt: Duration? {
        guard model.view == .downloads else { return nil }
        return model.table.rows[model.downloadRows.range].lazy.compactMap(\.failure?.retryAt)
            .filter { $0 > time.unixSecond }.min()
            .map { time.elapsed + .seconds($0.saturatingSubtracting(time.unixSecond)) }
    }

    private var title: StyledLine {
        var line = StyledLine()
        let isNarrow = columns < 60
        let views = model.views
        for (number, view) in views.enumerated() {
            let name = isNarrow && views.count > 2 && view != model.view ? "" : " \(view)"
            line.append(
                view == model.view
                    ? StyledLine("[\(number + 1)\(name)]", .strong)
                    : StyledLine(" \(number + 1)\(name) ", .faint))
            line.append(" ")
        }
        let failed = model.table.failureCount
        line.append(" \(model.table.runningCount)\(isNarrow ? "" : " under way")")
        if failed > 0 { line.append(", \(failed) failed", .failure) }
        return line
    }

    private var overall: StyledLine {
        guard let overall = model.overall else { return StyledLine("nothing to do", .faint) }
        return OverallLine(terminal: terminal, columns: columns).line(overall)
    }

    /// The last line: a question, a notice, or the keys.
    private var keys: StyledLine {
        if case .remove(let url)? = model.confirmation {
            let room = columns - "remove ? y/n".columns
            let name = url.shortURL(columns: room, mark: terminal.ellipsis)
            return StyledLine("remove \(name)? y/n", .warning)
        }
        if let notice = model.notice {
            return StyledLine(
                notice.printable.prefix(columns: columns, mark: terminal.ellipsis), .strong)
        }
        return KeyHints(terminal: terminal, view: model.view).line(columns: columns)
    }
}
