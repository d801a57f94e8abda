import CacheWire

/// The state and the decisions of `top`. Pure: keys, replies and the time are parameters, and the
/// results are actions.
///
/// It is split by subject: `+Keys` handles keys, `+Replies` handles replies of the daemon, and
/// `+Schedule` determines when to draw.
struct TopModel {
    enum View: Hashable {
        case downloads, cached, users
    }

    /// An action that the session performs for the model.
    enum Action: Hashable {
        case stats
        case list(CachedList.PageRequest)
        case pin(String, Bool)
        case remove(String)
        case refresh(String)
        case quit
    }

    /// A question that must be answered before an action.
    enum Confirmation: Hashable {
        case remove(url: String)
    }

    var view = View.downloads
    var size: TerminalSize
    var table = DownloadTable()
    /// The position of each view.
    var downloadRows = Viewport(hasCursor: false)
    var cachedRows = Viewport()
    var userRows = Viewport(hasCursor: false)
    /// The downloads on the screen, by URL.
    var watched: [String: DownloadProgress] = [:]
    var cached = CachedList()
    /// The share of each user; those with the most downloads come first.
    var users: [UserShare] = []
    /// The URLs whose refresh was requested with a key and has not ended.
    var refreshing: Set<String> = []
    /// Whether the user wants to see the end of the list, which is not loaded yet.
    var isJumpingToEnd = false
    var statsHistory = StatsHistory()

    /// Downloads that have ended since the last time that there were none.
    var finished = 0
    var pacer = LabelPacer()

    var confirmation: Confirmation?
    /// The result of the last action. It disappears with the next key or after a short time.
    private(set) var notice: String?
    private(set) var noticeEnd: Duration?
    private static let noticeTime = Duration.seconds(3)

    var schedule = FrameSchedule()
    /// When to call `Stats` next; `nil` while no view shows its numbers.
    var nextSample: Duration?

    init(size: TerminalSize) {
        self.size = size
        layOut()
    }

    /// The views that there are now. A cache of one user has none of users.
    var views: [View] {
        users.count > 1 || view == .users ? [.downloads, .cached, .users] : [.downloads, .cached]
    }

    /// The progress of all downloads; `nil` if there are none.
    var overall: OverallProgress? {
        let total = finished + table.runningCount
        guard table.runningCount > 0 || pacer.label != nil, total > 0 else { return nil }
        return OverallProgress(
            finished: finished, total: total,
            fraction: min(1, (Double(finished) + table.runningParts) / Double(total)),
            label: pacer.label)
    }

    /// The URLs on the screen; only these are watched.
    var urlsOnScreen: [String] {
        switch view {
        case .downloads: table.rows[downloadRows.range].map(\.url)
        case .cached: cached.items[cachedRows.range].map(\.url).filter { !$0.isEmpty }
        case .users: []
        }
    }

    var selected: Item? {
        guard view == .cached, cached.items.indices.contains(cachedRows.cursor) else { return nil }
        return cached.items[cachedRows.cursor]
    }

    /// Shows a notice; `nil` removes it.
    mutating func showNotice(_ text: String?, now: Duration) {
        notice = text
        noticeEnd = text == nil ? nil : now + Self.noticeTime
        schedule.isUrgent = true
    }

    /// Adapts the views to the size of the screen and to the number of rows.
    mutating func layOut() {
        downloadRows.resized(height: TopLayout(size: size, view: .downloads).rows.count)
        downloadRows.counted(table.rows.count)
        cachedRows.resized(height: TopLayout(size: size, view: .cached).rows.count)
        cachedRows.counted(cached.items.count)
        userRows.resized(height: TopLayout(size: size, view: .users).rows.count)
        userRows.counted(users.count)
    }

    /// Changes the list of cached images. The selected image and the first one on the screen keep
    /// their places. If either is gone, the next remaining image takes its place.
    mutating func changeCached(_ change: (inout CachedList) -> Void) {
        let before = cached
        change(&cached)
        let cursor = cached.position(of: cachedRows.cursor, in: before)
        // If the screen shows the start of the list, it stays there.
        let offset =
            cachedRows.offset > 0 ? cached.position(of: cachedRows.offset, in: before) : 0
        layOut()
        cachedRows.moved(cursor: cursor, offset: offset)
    }

    /// The size of the terminal has changed.
    mutating func resized(_ size: TerminalSize) {
        self.size = size
        layOut()
        schedule.isUrgent = true
    }
}
