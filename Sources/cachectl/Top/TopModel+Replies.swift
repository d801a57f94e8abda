import CacheWire

/// Replies of the daemon.
extension TopModel {
    /// A download began or ended.
    mutating func downloadsChanged(_ reply: Methods.Watch.Reply, now: Duration) {
        let wasIdle = table.runningCount == 0
        let change = changeDownloads {
            $0.table.changed(reply.items, removed: reply.removed)
        }
        if wasIdle, pacer.label == nil {
            finished = 0
            pace.reset()
        }
        finished += change.ended
        apply(reply, now: now)
        if let latest = change.latest { pacer.announced(latest, now: now) }
        if table.runningCount == 0 { pacer.ended(now: now) }
        schedule.isChanged = true
    }

    /// The stream of downloads was restarted and will report the current state again.
    mutating func forgetDownloads() {
        changeDownloads { $0.table = DownloadTable() }
        refreshing = []
    }

    /// An image on the screen has changed.
    @discardableResult
    mutating func screenChanged(_ reply: Methods.Watch.Reply, now: Duration) -> [Action] {
        apply(reply, now: now)
        if view == .cached {
            changeCached { $0.changed(reply.items, removed: reply.removed) }
        }
        schedule.isChanged = true
        return changeDetails(reply)
    }

    private mutating func apply(_ reply: Methods.Watch.Reply, now: Duration) {
        for item in reply.items {
            watched[item.url]?.changed(to: item, now: now)
            table.progressed(item)
            if item.phase == nil { refreshed(item, now: now) }
        }
        pace.reached(done, now: now)
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
        if let details {
            watched[details.url] = known[details.url] ?? DownloadProgress(url: details.url)
        } else if view == .downloads {
            for row in downloads[downloadRows.range] where row.failure == nil {
                watched[row.url] = known[row.url] ?? DownloadProgress(url: row.url)
            }
        }
    }

    // MARK: The details

    /// Asks for the rest about an image that has arrived meanwhile.
    private mutating func changeDetails(_ reply: Methods.Watch.Reply) -> [Action] {
        guard let known = details else { return [] }
        var news = reply.items.last { $0.url == known.url || $0.key == known.key }
        if news == nil, reply.removed.contains(known.key) {
            news = Item(url: known.url, key: known.key, state: .missing, failure: known.failure)
        }
        guard let news else { return [] }
        details = news.state == .cached ? news.withDetails(of: known) : news
        return news.phase == nil && news.state == .cached && known.state != .cached
            || known.phase != nil && news.phase == nil ? [.details(known.url)] : explainDetails()
    }

    @discardableResult
    mutating func detailed(_ items: [Item]) -> [Action] {
        schedule.isUrgent = true
        guard let item = items.first, item.url == details?.url else { return [] }
        details = item
        return explainDetails()
    }

    // MARK: Lists

    mutating func listed(_ page: CachedList.PageRequest, _ reply: Methods.List.Reply) -> [Action] {
        changeCached { $0.arrived(page, reply) }
        if isJumpingToEnd { cachedRows.moveCursor(by: .max / 2) }
        isJumpingToEnd = isJumpingToEnd && !cached.isComplete
        schedule.isChanged = true
        return nextPageIfNeeded()
    }

    mutating func countedHosts(_ reply: Methods.List.Reply) -> [Action] {
        let after = changeDownloads { $0.hosts.arrived(reply) }
        schedule.isChanged = true
        return after.map { [.countHosts(after: $0)] } ?? []
    }

    mutating func sampled(
        _ stats: [String: JSONValue], users: [UserShare] = [], now: Duration
    ) -> [Action] {
        heartbeat.answered()
        schedule.isChanged = true
        self.users = users.sorted { $0.rank < $1.rank }
        layOut()
        let explanation = explainDetails()
        guard statsHistory.sampled(stats, now: now) else { return explanation }
        switch view {
        case .cached: return explanation + reload()
        case .hosts where !hosts.isReading && hosts.isCheap:
            hosts.begin()
            return explanation + [.countHosts(after: nil)]
        case .downloads, .hosts, .users: return explanation
        }
    }

    /// The plots begin with what the daemon remembers.
    mutating func remembered(_ samples: HistorySamples?, now: Int) {
        guard let samples else { return }
        statsHistory.remember(samples, now: now)
        schedule.isChanged = true
    }

    private mutating func reload() -> [Action] {
        cached.reload(seen: cachedRows.range.upperBound).map { [.list($0)] } ?? []
    }

    // MARK: Answers to keys

    /// Shows the result of a pin, a refresh or a retry.
    mutating func answered(_ action: Action, _ items: [Item], now: Duration) {
        schedule.isUrgent = true
        guard let item = items.first else { return }
        changeCached { $0.changed(items, removed: []) }
        if let known = details, known.url == item.url { details = item.withDetails(of: known) }
        let failure = item.failure?.message
        switch action {
        case .pin(_, let isPinned):
            let isDone = item.pinned ?? false == isPinned
            let text = isPinned ? "pinned" : "unpinned"
            showNotice(isDone ? text : failure ?? "it is not cached", now: now)
            if isDone, details?.url == item.url { details?.pinned = isPinned }
        case .pinDownload:
            showNotice(item.isInFlight ? "pinned when it is here" : failure ?? "pinned", now: now)
        case .refresh where item.phase == nil: refreshed(item, now: now)
        case .refresh where refreshing.contains(item.url):
            showNotice("asking the origin", now: now)
        case .retry(let urls):
            let isOne = urls.count == 1
            showNotice(
                isOne && !item.isInFlight && item.state == .missing
                    ? failure ?? "it was not downloaded"
                    : isOne ? "fetching it again" : "fetching \(urls.count) images again",
                now: now)
        default: break
        }
    }

    /// Shows the result of a removal.
    mutating func removed(_ reply: Methods.Remove.Reply, now: Duration) -> [Action] {
        showNotice(
            reply.failure?.message
                ?? (reply.entries > 0 ? "removed " + reply.text : "cancelled"), now: now)
        return [.stats] + (view == .cached ? reload() : [])
    }

    // MARK: The daemon

    /// The connection to the daemon was lost, or it could not be made again.
    mutating func lostDaemon(_ reason: String) {
        goneBecause = reason
        schedule.isUrgent = true
    }

    /// A daemon is there again. Returns what is asked anew.
    mutating func foundDaemon() -> [Action] {
        goneBecause = nil
        heartbeat = Heartbeat()
        schedule.isUrgent = true
        hosts.stop()
        let image: [Action] = details.map { [.details($0.url)] } ?? []
        switch view {
        case .downloads, .users: return image
        case .cached: return image + [.list(cached.restart())]
        case .hosts:
            hosts.begin()
            return [.countHosts(after: nil)]
        }
    }
}

extension UserShare {
    /// Users with more come first, the others in the order of their numbers.
    fileprivate var rank: (downloads: Int, waiting: Int, connections: Int, user: Int) {
        (~downloads, ~waiting, ~connections, user)
    }
}
