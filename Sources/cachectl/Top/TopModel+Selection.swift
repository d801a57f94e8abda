import CacheWire

/// What keys do to the selected image.
extension TopModel {
    /// The image on which keys act: that of the details, or that of the selected row.
    var selected: Item? {
        if let details { return details }
        switch view {
        case .downloads:
            guard downloads.indices.contains(downloadRows.cursor) else { return nil }
            let row = downloads[downloadRows.cursor]
            return watched[row.url].flatMap { row.failure == nil ? $0.item : nil } ?? Item(row)
        case .cached:
            guard cached.items.indices.contains(cachedRows.cursor) else { return nil }
            return cached.items[cachedRows.cursor]
        case .hosts, .users: return nil
        }
    }

    mutating func showDetails() -> [Action] {
        details = nil
        guard let selected, !selected.url.isEmpty else { return [] }
        details = selected
        return [.details(selected.url)]
    }

    mutating func pressedForSelection(_ key: Key, now: Duration) -> [Action] {
        switch (view, key) {
        case (.cached, .character("n")): return ordered(.newest, host: cached.filter.host)
        case (.cached, .character("l")): return ordered(.largest, host: cached.filter.host)
        case (.cached, .character("u")): return ordered(.unused, host: cached.filter.host)
        case (.hosts, .character("r")):
            hosts.begin()
            return [.countHosts(after: nil)]
        case (.downloads, .character("c")):
            changeDownloads { $0.table.clearFailures() }
            return []
        case (.downloads, .character("R")):
            let failed = table.rows.filter { $0.failure != nil }.map(\.url)
            return failed.isEmpty ? [] : [.retry(failed)]
        default: break
        }
        guard let item = selected, !item.url.isEmpty else { return [] }
        switch key {
        case .character("p"): return pinned(item, now: now)
        case .character("r"): return asked(item, now: now)
        case .character("x"): return dropped(item)
        case .character("y"):
            showNotice("copied \(item.url)", now: now)
            return [.copy(item.url)]
        default: return []
        }
    }

    private mutating func pinned(_ item: Item, now: Duration) -> [Action] {
        switch item.state {
        case .cached: return [.pin(item.url, item.pinned != true)]
        case .inFlight: return [.pinDownload(item.url)]
        case .missing:
            showNotice("it is not cached: r fetches it", now: now)
            return []
        }
    }

    /// Refreshes an image that is here, and fetches one that is not.
    private mutating func asked(_ item: Item, now: Duration) -> [Action] {
        switch item.state {
        case .cached:
            refreshing.insert(item.url)
            return [.refresh(item.url)]
        case .inFlight:
            showNotice("it is under way", now: now)
            return []
        case .missing: return [.retry([item.url])]
        }
    }

    private mutating func dropped(_ item: Item) -> [Action] {
        switch item.state {
        case .cached: confirmation = .remove(url: item.url)
        case .inFlight: confirmation = .cancel(url: item.url)
        case .missing: changeDownloads { $0.table.clearFailures([item.key]) }
        }
        return []
    }

    mutating func answered(_ confirmation: Confirmation) -> [Action] {
        switch confirmation {
        case .remove(let url), .cancel(let url):
            refreshing.remove(url)
            return [.remove(url)]
        }
    }
}

extension Item {
    /// A download of which only the table's row is known.
    init(_ row: DownloadTable.Row) {
        let isRunning = row.failure == nil
        self.init(
            url: row.url, key: row.key,
            state: row.isRefresh ? .cached : isRunning ? .inFlight : .missing,
            phase: !isRunning ? nil : row.isQueued ? .queued : .connecting, failure: row.failure)
    }
}
