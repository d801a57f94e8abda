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
        if model.isHelpShown {
            put(HelpView(screen: self).lines(count: layout.panel.count), layout.panel, &canvas)
        } else if let details = model.details {
            put(DetailsView(screen: self, item: details).lines, layout.panel, &canvas)
        } else {
            putView(layout, &canvas)
        }
        canvas.put(lastLine, at: layout.keys)
        return canvas
    }

    private func putView(_ layout: TopLayout, _ canvas: inout Canvas) {
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
        case .hosts:
            let view = HostsView(screen: self)
            if let line = layout.heads { canvas.put(view.heads, at: line) }
            rows = view.rows
        case .users:
            let view = UsersView(screen: self)
            if let line = layout.heads { canvas.put(view.heads, at: line) }
            rows = view.rows
        }
        put(rows, layout.rows, &canvas)
    }

    private func put(_ rows: [StyledLine], _ range: Range<Int>, _ canvas: inout Canvas) {
        for (line, row) in zip(range, rows) { canvas.put(row, at: line) }
    }

    private var title: StyledLine {
        var line = StyledLine()
        for tab in TopTabs(model).tabs {
            line.append(tab.text, tab.view == model.view ? .strong : .faint)
            line.append(" ")
        }
        let failed = model.table.failureCount
        line.append(" \(model.table.runningCount)\(columns < 60 ? "" : " under way")")
        if failed > 0 { line.append(", \(failed) failed", .failure) }
        return line
    }

    private var overall: StyledLine {
        guard let overall = model.overall else { return StyledLine("nothing to do", .faint) }
        return OverallLine(terminal: terminal, columns: columns).line(overall)
    }

    // MARK: The last line

    /// A question, the filter that is typed, a notice, an outage, or the keys.
    private var lastLine: StyledLine {
        switch model.confirmation {
        case .remove(let url): return question("remove", url)
        case .cancel(let url): return question("cancel", url)
        case nil: break
        }
        if model.isFiltering { return StyledLine("/\(model.filter)_", .strong) }
        if let notice = model.notice { return message(notice, .strong) }
        switch model.outage {
        case .silent:
            return message("the daemon does not answer: the figures are old; q quits", .failure)
        case .gone(let reason): return message("waiting for a daemon: \(reason)", .failure)
        case nil: break
        }
        var line = StyledLine()
        if !model.filter.isEmpty {
            line = StyledLine("/\(model.filter)", .strong)
            line.append("  esc", .strong)
            line.append(" all  ", .faint)
        }
        line.append(
            KeyHints(terminal: terminal, model: model).line(columns: columns - line.columns))
        return line
    }

    private func question(_ verb: String, _ url: String) -> StyledLine {
        let room = columns - "\(verb) ? y/n".columns
        let name = url.shortURL(columns: room, mark: terminal.ellipsis)
        return StyledLine("\(verb) \(name)? y/n", .warning)
    }

    private func message(_ text: String, _ style: TextStyle) -> StyledLine {
        StyledLine(text.printable.prefix(columns: columns, mark: terminal.ellipsis), style)
    }
}

extension TopScreen {
    /// The visible rows, with the selected one marked.
    func selecting(_ viewport: Viewport, _ rows: [StyledLine]) -> [StyledLine] {
        var rows = rows
        let selected = viewport.cursor - viewport.offset
        if rows.indices.contains(selected) {
            rows[selected] = rows[selected].selected(columns: columns)
        }
        return rows
    }

    /// The signs of an image: its state, and the marks on it.
    func signs(_ item: Item) -> StyledLine {
        let sign = Sign(terminal: terminal)
        let state = ImageState(item, now: time.unixSecond)
        let ring =
            state == .retrying
            ? model.watched[item.url]?.pauseLeft(at: time) : item.fraction
        var line = sign.line(state, fraction: ring, now: time.elapsed)
        for mark in ImageState.marks(of: item, now: time.unixSecond) {
            line.append(sign.line(mark))
        }
        return line
    }
}
