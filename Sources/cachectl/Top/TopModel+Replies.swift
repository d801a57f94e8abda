import CacheWire

/// What the daemon says.
extension TopModel {
    /// Downloads began or ended, anywhere.
    mutating func downloadsChanged(_ reply: Methods.Watch.Reply, now: Duration) {
        let wasIdle = table.runningCount == 0
        let change = table.changed(
            reply.items, removed: reply.removed, firstOnScreen: downloadRows.offset)
        tell(reply, now: now)
        finished = (wasIdle && pacer.label == nil ? 0 : finished) + change.ended
        downloadRows.lost(above: change.lostAbove)
        layOut()
        if let latest = change.latest { pacer.announced(latest, now: now) }
        if table.runningCount == 0 { pacer.ended(now: now) }
        pace.isChanged = true
    }

    /// What is under way will be told from the beginning.
    mutating func forgetDownloads() {
        table = DownloadTable()
        refreshing = []
        layOut()
    }

    /// Something about what is on the screen changed.
    mutating func screenChanged(_ reply: Methods.Watch.Reply, now: Duration) {
        tell(reply, now: now)
        if view == .cached {
            changeCached { $0.changed(reply.items, removed: reply.removed) }
        }
        pace.isChanged = true
    }

    private mutating func tell(_ reply: Methods.Watch.Reply, now: Duration) {
        for item in reply.items {
            watched[item.url]?.changed(to: item, now: now)
            table.progressed(item)
            if item.phase == nil { refreshed(item, now: now) }
        }
    }

    /// Says what came of a refresh, if a person asked for it.
    private mutating func refreshed(_ item: Item, now: Duration) {
        guard refreshing.remove(item.url) != nil else { return }
        say(item.failure?.message ?? "it is what the origin has now", now: now)
    }

    /// What is on the screen now is watched from now on; what is known of it is kept.
    mutating func watchScreen() {
        let known = watched
        watched = [:]
        guard view == .downloads else { return }
        for row in table.rows[downloadRows.range] {
            watched[row.url] = known[row.url] ?? Download(row)
        }
    }

    mutating func listed(_ page: CachedList.Page, _ reply: Methods.List.Reply) -> [Wish] {
        changeCached { $0.arrived(page, reply) }
        if isEndWanted { cachedRows.choose(by: .max / 2) }
        isEndWanted = isEndWanted && !cached.isWhole
        pace.isChanged = true
        return moreOfList()
    }

    mutating func sampled(_ stats: [String: JSONValue], now: Duration) -> [Wish] {
        pace.isChanged = true
        let hasChanged = gauges.sampled(stats, now: now)
        guard hasChanged, view == .cached else { return [] }
        return reload()
    }

    /// What became of a pin, and what of a refresh.
    mutating func answered(_ wish: Wish, _ items: [Item], now: Duration) {
        pace.isUrgent = true
        guard let item = items.first else { return }
        changeCached { $0.changed(items, removed: []) }
        let failure = item.failure?.message
        switch wish {
        case .pin(_, let isPinned):
            let isDone = item.pinned ?? false == isPinned
            let text = isPinned ? "pinned" : "unpinned"
            say(isDone ? text : failure ?? "it is not cached", now: now)
        case .refresh where item.phase == nil: refreshed(item, now: now)
        case .refresh where refreshing.contains(item.url): say("the origin is asked", now: now)
        default: break
        }
    }

    /// What became of a removal.
    mutating func removed(_ reply: Methods.Remove.Reply, now: Duration) -> [Wish] {
        say("removed " + EntryCountText.describe(reply.entries, bytes: reply.bytes), now: now)
        return [.stats] + reload()
    }

    private mutating func reload() -> [Wish] {
        cached.reload(seen: cachedRows.range.upperBound).map { [.list($0)] } ?? []
    }
}
