import CacheWire

/// The state and the decisions of `top`. Pure: keys, replies and the time are parameters, and the
/// results are actions.
///
/// It is split by subject: `+Keys` handles keys, `+Selection` what they do to an image, `+Replies`
/// handles replies of the daemon, `+Gone` asks why an image is gone, and `+Schedule` determines when to draw.
struct TopModel {
    enum View: Hashable {
        case downloads, cached, hosts, users

        /// The position in the view.
        var rows: WritableKeyPath<TopModel, Viewport> {
            switch self {
            case .downloads: \.downloadRows
            case .cached: \.cachedRows
            case .hosts: \.hostRows
            case .users: \.userRows
            }
        }
    }

    /// An action that the session performs for the model.
    enum Action: Hashable {
        case stats
        case list(CachedList.PageRequest)
        /// The page of all images after a position, to count them by host.
        case countHosts(after: String?)
        case details(String)
        /// Asks what happened to an image that is gone.
        case explain(String)
        /// Asks for the figures that the daemon remembers.
        case history
        case pin(String, Bool)
        /// Pins a download from its first byte on.
        case pinDownload(String)
        /// Removes an image, or cancels its download.
        case remove(String)
        case refresh(String)
        case retry([String])
        case copy(String)
        case quit
    }

    /// A question that must be answered before an action.
    enum Confirmation: Hashable {
        case remove(url: String)
        case cancel(url: String)
    }

    /// Why the figures on the screen can be old.
    enum Outage: Hashable {
        /// The daemon is there and does not answer.
        case silent
        /// No daemon is there, for this reason.
        case gone(String)
    }

    var view = View.downloads
    var size: TerminalSize
    var table = DownloadTable()
    /// The position of each view.
    var downloadRows = Viewport()
    var cachedRows = Viewport()
    var hostRows = Viewport()
    var userRows = Viewport()
    /// The downloads on the screen, by URL.
    var watched: [String: DownloadProgress] = [:]
    var cached = CachedList()
    var hosts = HostTable()
    /// The share of each user; those with the most downloads come first.
    var users: [UserShare] = []
    /// The URLs whose refresh was requested with a key and has not ended.
    var refreshing: Set<String> = []
    /// Whether the user wants to see the end of the list, which is not loaded yet.
    var isJumpingToEnd = false
    var statsHistory = StatsHistory()

    /// Only rows whose URL or host contains this text are shown.
    var filter = ""
    /// Whether keys change the filter.
    var isFiltering = false
    /// The image about which everything is shown, in place of the rows.
    var details: Item? {
        didSet {
            let isSame = details?.state == .missing && details?.url == oldValue?.url
            if !isSame { explanation = Explanation() }
        }
    }
    /// Why that image is gone.
    var explanation = Explanation()
    /// Whether the signs and keys are shown in place of the rows.
    var isHelpShown = false

    /// Downloads that have ended since the last time that there were none.
    var finished = 0
    var pacer = LabelPacer()
    var pace = Pace()

    var confirmation: Confirmation?
    /// The result of the last action. It disappears with the next key or after a short time.
    private(set) var notice: String?
    private(set) var noticeEnd: Duration?
    private static let noticeTime = Duration.seconds(3)

    var schedule = FrameSchedule()
    var heartbeat = Heartbeat()
    /// Why no daemon is there; `nil` while one is.
    var goneBecause: String?

    init(size: TerminalSize) {
        self.size = size
        layOut()
    }

    /// The views that there are now. A cache of one user has none of users.
    var views: [View] {
        [.downloads, .cached, .hosts] + (users.count > 1 || view == .users ? [.users] : [])
    }

    var outage: Outage? {
        goneBecause.map { .gone($0) } ?? (heartbeat.isSilent ? .silent : nil)
    }

    /// The progress of all downloads; `nil` if there are none.
    var overall: OverallProgress? {
        let total = finished + table.runningCount
        guard table.runningCount > 0 || pacer.label != nil, total > 0 else { return nil }
        return OverallProgress(
            finished: finished, total: total, fraction: min(1, done / Double(total)),
            bytesPerSecond: statsHistory.bytesReceived.latest,
            secondsLeft: pace.secondsLeft(of: total), label: pacer.label)
    }

    /// The downloads that have ended, and the parts of those that are under way.
    var done: Double { Double(finished) + table.runningParts }

    /// The downloads that the filter leaves.
    var downloads: [DownloadTable.Row] {
        filter.isEmpty ? table.rows : table.rows.filter { $0.url.contains(ignoringCase: filter) }
    }

    /// The hosts that the filter leaves.
    var shownHosts: [HostTable.Row] {
        filter.isEmpty ? hosts.rows : hosts.rows.filter { $0.host.contains(ignoringCase: filter) }
    }

    /// The URLs on the screen; only these are watched.
    var urlsOnScreen: [String] {
        if let details { return details.url.isEmpty ? [] : [details.url] }
        return switch view {
        case .downloads: downloads[downloadRows.range].map(\.url)
        case .cached: cached.items[cachedRows.range].map(\.url).filter { !$0.isEmpty }
        case .hosts, .users: []
        }
    }

    /// Shows a notice; `nil` removes it.
    mutating func showNotice(_ text: String?, now: Duration) {
        notice = text
        noticeEnd = text == nil ? nil : now + Self.noticeTime
        schedule.isUrgent = true
    }

    /// Adapts the views to the size of the screen and to the number of rows.
    mutating func layOut() {
        let counts: [(View, Int)] = [
            (.downloads, downloads.count), (.cached, cached.items.count),
            (.hosts, shownHosts.count), (.users, users.count),
        ]
        for (view, count) in counts {
            self[keyPath: view.rows].resized(height: TopLayout(size: size, view: view).rows.count)
            self[keyPath: view.rows].counted(count)
        }
    }

    /// Changes the downloads. The selected row keeps its place.
    mutating func changeDownloads<Result>(_ change: (inout TopModel) -> Result) -> Result {
        let before = (downloads, shownHosts)
        let result = change(&self)
        if view == .hosts { hosts.changed(table.rows) }
        downloadRows.follow(from: before.0.lazy.map(\.key), to: downloads.lazy.map(\.key))
        hostRows.follow(from: before.1.lazy.map(\.host), to: shownHosts.lazy.map(\.host))
        layOut()
        return result
    }

    /// Changes the list of cached images. The selected row keeps its place.
    mutating func changeCached(_ change: (inout CachedList) -> Void) {
        let before = cached.items
        change(&cached)
        cachedRows.follow(from: before.lazy.map(\.key), to: cached.items.lazy.map(\.key))
        layOut()
    }

    /// The size of the terminal has changed.
    mutating func resized(_ size: TerminalSize) {
        self.size = size
        layOut()
        schedule.isUrgent = true
    }
}

extension String {
    /// Upper and lower case of ASCII count as the same, as in `List`.
    func contains(ignoringCase text: String) -> Bool {
        lowercased().contains(text.lowercased())
    }
}
