import CacheWire

/// Everything `top` knows and decides. Pure: keys, replies and the time come in, wishes go out.
///
/// Split over files by subject: `+Keys` for what a person does, `+Replies` for what the daemon says,
/// `+Pace` for when to draw.
struct TopModel {
    enum View: Hashable {
        case downloads, cached
    }

    /// What is to be done for the model.
    enum Action: Hashable {
        case stats
        case list(CachedList.PageRequest)
        case pin(String, Bool)
        case remove(String)
        case refresh(String)
        case quit
    }

    /// What a person is asked before it is done.
    enum Confirmation: Hashable {
        case remove(url: String)
    }

    var view = View.downloads
    var size: TerminalSize
    var table = DownloadTable()
    /// Where each view stands.
    var downloadRows = Viewport(hasCursor: false)
    var cachedRows = Viewport()
    /// How far the downloads on the screen are, by URL.
    var watched: [String: Download] = [:]
    var cached = CachedList()
    /// The URLs a person had refreshed, until it is known what came of it.
    var refreshing: Set<String> = []
    /// The end of what is cached is wanted, which is not read yet.
    var isJumpingToEnd = false
    var statsHistory = StatsHistory()

    /// Downloads that ended since there last was nothing to do.
    var finished = 0
    var pacer = LabelPacer()

    var confirmation: Confirmation?
    /// What became of what a person did last; shown until the next key, and so long at most.
    private(set) var notice: String?
    private(set) var noticeEnd: Duration?
    private static let noticeTime = Duration.seconds(3)

    var schedule = FrameSchedule()
    /// When `Stats` is asked next; `nil` while nobody looks at it.
    var nextSample: Duration?

    init(size: TerminalSize) {
        self.size = size
        layOut()
    }

    /// What is to do altogether; `nil` while there is nothing.
    var overall: OverallProgress? {
        let total = finished + table.runningCount
        guard table.runningCount > 0 || pacer.label != nil, total > 0 else { return nil }
        return OverallProgress(
            finished: finished, total: total,
            fraction: min(1, (Double(finished) + table.runningParts) / Double(total)),
            label: pacer.label)
    }

    /// The URLs on the screen, all that is watched.
    var urlsOnScreen: [String] {
        switch view {
        case .downloads: table.rows[downloadRows.range].map(\.url)
        case .cached: cached.items[cachedRows.range].map(\.url).filter { !$0.isEmpty }
        }
    }

    var selected: Item? {
        guard view == .cached, cached.items.indices.contains(cachedRows.cursor) else { return nil }
        return cached.items[cachedRows.cursor]
    }

    /// Shows a notice, or none any more.
    mutating func showNotice(_ text: String?, now: Duration) {
        notice = text
        noticeEnd = text == nil ? nil : now + Self.noticeTime
        schedule.isUrgent = true
    }

    /// Fits the views to the screen and to what there is.
    mutating func layOut() {
        downloadRows.resized(height: TopLayout(size: size, view: .downloads).rows.count)
        downloadRows.counted(table.rows.count)
        cachedRows.resized(height: TopLayout(size: size, view: .cached).rows.count)
        cachedRows.counted(cached.items.count)
    }

    /// Lets what is cached change. The chosen image stays chosen wherever it is then, and what was first
    /// on the screen stays so; where they have gone, what came behind them takes their places.
    mutating func changeCached(_ change: (inout CachedList) -> Void) {
        let before = cached
        change(&cached)
        let cursor = cached.position(of: cachedRows.cursor, in: before)
        // At its top the screen shows what is first, whatever was.
        let offset =
            cachedRows.offset > 0 ? cached.position(of: cachedRows.offset, in: before) : 0
        layOut()
        cachedRows.moved(cursor: cursor, offset: offset)
    }

    /// The terminal has another size.
    mutating func resized(_ size: TerminalSize) {
        self.size = size
        layOut()
        schedule.isUrgent = true
    }
}
