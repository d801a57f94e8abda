import CacheWire

/// Replies of the daemon.
extension TopModel {
    /// A download began or ended.
    mutating func downloadsChanged(_ reply: Methods.Watch.Reply, now: Duration) {
        let wasIdle = table.runningCount == 0
        let change = table.changed(
            reply.items, removed: reply.removed, firstOnScreen: downloadRows.offset)
        apply(reply, now: now)
        finished = (wasIdle && pacer.label == nil ? 0 : finished) + change.ended
        downloadRows.rowsRemoved(above: change.rowsRemovedAbove)
        layOut()
        if let latest = change.latest { pacer.announced(latest, now: now) }
        if table.runningCount == 0 { pacer.ended(now: now) }
        schedule.isChanged = true
    }

    /// The stream of downloads was restarted and will report the current state again.
    mutating func forgetDownloads() {
        table = DownloadTable()
        refreshing = []
        layOut()
    }

    /// An image on the screen has changed.
    mutating func screenChanged(_ reply: Methods.Watch.Reply, now: Duration) {
        apply(reply, now: now)
        if view == .cached {
            changeCached { $0.changed(reply.items, removed: reply.removed) }
        }
        schedule.isChanged = true
    }

    private mutating func apply(_ reply: Methods.Watch.Reply, now: Duration) {
        for item in reply.items {
            watched[item.url]?.changed(to: item, now: now)
            table.progressed(item)
            if item.phase == nil { refreshed(item, now: now) }
        }
    }

    /// Shows the result of a refresh that was requested with a key.
    private mutating func refreshed(_ item: Item, now: Duration) {
        guard refreshing.remove(item.url) != nil else { return }
        showNotice(item.failure?.message ?? "the image is up to date", now: now)
    }

    /// Watches the rows on the screen and keeps the known state of those that were watched before.
    mutating func watchScreen() {
        let known = watched
        watched = [:]
        guard view == .downloads else { return }
        for row in table.rows[downloadRows.range] {
            watched[row.url] = known[row.url] ?? DownloadProgress(row)
        }
    }

    mutating func listed(_ page: CachedList.PageRequest, _ reply: Methods.List.Reply) -> [Action] {
        changeCached { $0.arrived(page, reply) }
        if isJumpingToEnd { cachedRows.moveCursor(by: .max / 2) }
        isJumpingToEnd = isJumpingToEnd && !cached.isComplete
        schedule.isChanged = true
        return nextPageIfNeeded()
    }

    mutating func sampled(
        _ stats: [String: JSONValue], users: [UserShare] = [], now: Duration
    ) -> [Action] {
        schedule.isChanged = true
        self.users = users.sorted { $0.rank < $1.rank }
        layOut()
        let hasChanged = statsHistory.sampled(stats, now: now)
        guard hasChanged, view == .cached else { return [] }
        return reload()
    }

    /// Shows the result of a pin or a refresh.
    mutating func answered(_ action: Action, _ items: [Item], now: Duration) {
        schedule.isUrgent = true
        guard let item = items.first else { return }
        changeCached { $0.changed(items, removed: []) }
        let failure = item.failure?.message
        switch action {
        case .pin(_, let isPinned):
            let isDone = item.pinned ?? false == isPinned
            let text = isPinned ? "pinned" : "unpinned"
            showNotice(isDone ? text : failure ?? "it is not cached", now: now)
        case .refresh where item.phase == nil: refreshed(item, now: now)
        case .refresh where refreshing.contains(item.url):
            showNotice("asking the origin", now: now)
        default: break
        }
    }

    /// Shows the result of a removal.
    mutating func removed(_ reply: Methods.Remove.Reply, now: Duration) -> [Action] {
        showNotice(
            "removed " + reply.text, now: now)
        return [.stats] + reload()
    }

    private mutating func reload() -> [Action] {
        cached.reload(seen: cachedRows.range.upperBound).map { [.list($0)] } ?? []
    }
}

extension UserShare {
    /// Users with more come first, the others in the order of their numbers.
    fileprivate var rank: (downloads: Int, waiting: Int, connections: Int, user: Int) {
        (~downloads, ~waiting, ~connections, user)
    }
}
