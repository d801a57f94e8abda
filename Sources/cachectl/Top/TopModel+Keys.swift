import CacheWire

/// Key events: views, rows, the filter and what lies over the rows.
extension TopModel {
    mutating func pressed(_ key: Key, now: Duration) -> [Action] {
        showNotice(nil, now: now)
        isJumpingToEnd = view == .cached && [.end, .character("G")].contains(key)
        if let confirmation {
            self.confirmation = nil
            return key == .character("y") ? answered(confirmation) : []
        }
        if isFiltering { return typed(key) }
        if isHelpShown {
            isHelpShown = false
            return key == .character("q") ? [.quit] : []
        }
        switch key {
        case .character("q"): return [.quit]
        case .character("?"): isHelpShown = true
        case .character("/"):
            details = nil
            isFiltering = view != .users
        case .escape: return escaped()
        case .enter: return entered()
        case .tab: return show(nextView)
        case .character("1"), .character("2"), .character("3"), .character("4"):
            guard case .character(let digit) = key, let number = digit.wholeNumberValue,
                views.indices.contains(number - 1)
            else { return [] }
            return show(views[number - 1])
        case .click(let column, let line): return clicked(column, line)
        default:
            if let steps = steps(key) { return moved(by: steps, scrolling: isPage(key)) }
            return pressedForSelection(key, now: now)
        }
        return []
    }

    // MARK: Views

    mutating func show(_ other: View, host: String? = nil) -> [Action] {
        details = nil
        guard other != view || host != nil else { return [] }
        view = other
        filter = host == nil ? filter : ""
        layOut()
        switch other {
        case .downloads: return []
        case .cached: return [.stats] + ordered(cached.order, host: host)
        case .hosts:
            hosts.changed(table.rows)
            hosts.begin()
            layOut()
            return [.countHosts(after: nil)]
        case .users: return [.stats]
        }
    }

    private var nextView: View {
        let place = views.firstIndex(of: view) ?? 0
        return views[(place + 1) % views.count]
    }

    mutating func ordered(_ order: CachedOrder, host: String? = nil) -> [Action] {
        cachedRows = Viewport()
        let page = cached.begin(order, .init(text: filter, host: host))
        layOut()
        return [.list(page)]
    }

    // MARK: The filter

    private mutating func typed(_ key: Key) -> [Action] {
        switch key {
        case .character(let character): return filtered(by: filter + String(character))
        case .backspace: return filtered(by: String(filter.dropLast()))
        case .escape:
            isFiltering = false
            return filtered(by: "")
        case .enter, .tab: isFiltering = false
        case .up, .down, .pageUp, .pageDown:
            isFiltering = false
            return steps(key).map { moved(by: $0, scrolling: isPage(key)) } ?? []
        default: break
        }
        return []
    }

    private mutating func filtered(by text: String) -> [Action] {
        guard text != filter else { return [] }
        filter = text
        downloadRows = Viewport()
        hostRows = Viewport()
        layOut()
        return view == .cached ? ordered(cached.order, host: cached.filter.host) : []
    }

    /// Escape goes one step back: from the details to the rows, then to all rows.
    private mutating func escaped() -> [Action] {
        if details != nil {
            details = nil
            return []
        }
        let isFiltered = !filter.isEmpty || (view == .cached && cached.filter.host != nil)
        guard isFiltered else { return [] }
        filter = ""
        layOut()
        return view == .cached ? ordered(cached.order) : []
    }

    // MARK: Rows

    private func steps(_ key: Key) -> Int? {
        let page = max(1, visibleRows.height - 1)
        return switch key {
        case .up, .character("k"): -1
        case .down, .character("j"): 1
        case .pageUp, .character("b"): -page
        case .pageDown, .character(" "): page
        case .home, .character("g"): -.max / 2
        case .end, .character("G"): .max / 2
        case .wheelUp: -3
        case .wheelDown: 3
        default: nil
        }
    }

    private func isPage(_ key: Key) -> Bool {
        [.pageUp, .pageDown, .character("b"), .character(" ")].contains(key)
    }

    private var visibleRows: Viewport {
        get { self[keyPath: view.rows] }
        set { self[keyPath: view.rows] = newValue }
    }

    /// The details follow the selection.
    private mutating func moved(by steps: Int, scrolling: Bool) -> [Action] {
        if scrolling { visibleRows.scroll(by: steps) } else { visibleRows.moveCursor(by: steps) }
        let page = view == .cached ? nextPageIfNeeded() : []
        return details == nil ? page : page + showDetails()
    }

    mutating func nextPageIfNeeded() -> [Action] {
        let page = cached.nextPage(
            seen: cachedRows.range.upperBound, isJumpingToEnd: isJumpingToEnd)
        return page.map { [.list($0)] } ?? []
    }

    private mutating func entered() -> [Action] {
        if details != nil {
            details = nil
            return []
        }
        switch view {
        case .downloads, .cached: return showDetails()
        case .hosts:
            guard shownHosts.indices.contains(hostRows.cursor) else { return [] }
            return show(.cached, host: shownHosts[hostRows.cursor].host)
        case .users: return []
        }
    }

    private mutating func clicked(_ column: Int, _ line: Int) -> [Action] {
        let layout = TopLayout(size: size, view: view)
        if line == layout.title {
            let tab = TopTabs(self).tabs.first { $0.columns.contains(column) }
            return tab.map { show($0.view) } ?? []
        }
        guard details == nil else { return escaped() }
        let before = visibleRows.cursor
        guard layout.rows.contains(line),
            visibleRows.select(onScreen: line - layout.rows.lowerBound)
        else { return [] }
        return visibleRows.cursor == before ? entered() : []
    }
}
