import CacheWire

/// Key events.
extension TopModel {
    mutating func pressed(_ key: Key, now: Duration) -> [Action] {
        showNotice(nil, now: now)
        isJumpingToEnd = view == .cached && [.end, .character("G")].contains(key)
        if let confirmation {
            self.confirmation = nil
            return key == .character("y") ? answered(confirmation) : []
        }
        switch key {
        case .character("q"): return [.quit]
        case .tab: return show(nextView, now: now)
        case .character("1"): return show(.downloads, now: now)
        case .character("2"): return show(.cached, now: now)
        case .character("3"): return views.contains(.users) ? show(.users, now: now) : []
        default:
            if let steps = steps(key) { return moved(by: steps) }
            return switch view {
            case .downloads: pressedInDownloads(key)
            case .cached: pressedInCached(key)
            case .users: []
            }
        }
    }

    private mutating func pressedInDownloads(_ key: Key) -> [Action] {
        guard key == .character("c") else { return [] }
        let removed = table.clearFailures(firstOnScreen: downloadRows.offset)
        downloadRows.rowsRemoved(above: removed)
        layOut()
        return []
    }

    private mutating func pressedInCached(_ key: Key) -> [Action] {
        switch key {
        case .character("n"): return ordered(.newest)
        case .character("l"): return ordered(.largest)
        case .character("u"): return ordered(.unused)
        default: break
        }
        guard let selected, !selected.url.isEmpty else { return [] }
        switch key {
        case .character("p"): return [.pin(selected.url, selected.pinned != true)]
        case .character("r"):
            refreshing.insert(selected.url)
            return [.refresh(selected.url)]
        case .character("x"):
            confirmation = .remove(url: selected.url)
            return []
        default: return []
        }
    }

    private mutating func answered(_ confirmation: Confirmation) -> [Action] {
        switch confirmation {
        case .remove(let url):
            refreshing.remove(url)
            return [.remove(url)]
        }
    }

    private mutating func show(_ other: View, now: Duration) -> [Action] {
        guard other != view else { return [] }
        view = other
        nextSample = other == .downloads ? nil : now + FrameSchedule.sample
        return switch other {
        case .downloads: []
        case .cached: [.stats] + ordered(cached.order)
        case .users: [.stats]
        }
    }

    private var nextView: View {
        let place = views.firstIndex(of: view) ?? 0
        return views[(place + 1) % views.count]
    }

    private mutating func ordered(_ order: CachedOrder) -> [Action] {
        cachedRows = Viewport()
        let page = cached.begin(order)
        layOut()
        return [.list(page)]
    }

    private func steps(_ key: Key) -> Int? {
        let page = max(1, visibleRows.height - 1)
        return switch key {
        case .up, .character("k"): -1
        case .down, .character("j"): 1
        case .pageUp, .character("b"): -page
        case .pageDown, .character(" "): page
        case .home, .character("g"): -.max / 2
        case .end, .character("G"): .max / 2
        default: nil
        }
    }

    private var visibleRows: Viewport {
        switch view {
        case .downloads: downloadRows
        case .cached: cachedRows
        case .users: userRows
        }
    }

    private mutating func moved(by steps: Int) -> [Action] {
        switch view {
        case .downloads:
            downloadRows.scroll(by: steps)
            return []
        case .cached:
            cachedRows.moveCursor(by: steps)
            return nextPageIfNeeded()
        case .users:
            userRows.scroll(by: steps)
            return []
        }
    }

    mutating func nextPageIfNeeded() -> [Action] {
        let page = cached.nextPage(
            seen: cachedRows.range.upperBound, isJumpingToEnd: isJumpingToEnd)
        return page.map { [.list($0)] } ?? []
    }
}
