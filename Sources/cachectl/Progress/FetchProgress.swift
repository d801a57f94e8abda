import CacheWire

/// The progress of all downloads of a fetch. Pure: the time is a parameter, and there are no side
/// effects.
struct FetchProgress {
    /// In the order of the URLs.
    private(set) var downloads: [DownloadProgress]
    private let positions: [String: Int]
    private var pacer = LabelPacer()

    init(urls: [String]) {
        positions = Dictionary(zip(urls, urls.indices), uniquingKeysWith: { first, _ in first })
        downloads = urls.map { DownloadProgress(url: $0) }
    }

    /// Applies the items of a reply. `now` counts from any fixed moment.
    mutating func replied(_ items: [Item], now: Duration) {
        for item in items {
            guard let position = positions[item.url] else { continue }
            let before = downloads[position].stage
            downloads[position].changed(to: item, now: now)
            if downloads[position].stage != before { pacer.announced(item.url, now: now) }
        }
    }

    /// Updates the values that change with time alone.
    mutating func advanced(to now: Duration) {
        pacer.advanced(to: now)
        for index in downloads.indices { downloads[index].advanced(to: now) }
    }

    /// The first downloads to draw: running downloads in the order of the URLs, then queued ones.
    func active(_ limit: Int) -> [DownloadProgress] {
        let working = Array(downloads.lazy.filter(\.isRunning).prefix(limit))
        return working
            + downloads.lazy.filter { $0.stage == .inFlight(.queued) }.prefix(limit - working.count)
    }

    /// Whether there is anything to draw.
    var isActive: Bool { downloads.contains { $0.isInFlight } }

    var overall: OverallProgress {
        let finished = positions.values.count { downloads[$0].isFinished }
        let parts = downloads.lazy.filter(\.isInFlight).reduce(0) { $0 + ($1.fraction ?? 0) }
        let total = positions.count
        return OverallProgress(
            finished: finished, total: total,
            fraction: total > 0 ? min(1, (Double(finished) + parts) / Double(total)) : 0,
            label: pacer.label)
    }
}

extension DownloadProgress {
    fileprivate var isInFlight: Bool {
        if case .inFlight = stage { true } else { false }
    }

    fileprivate var isRunning: Bool { isInFlight && stage != .inFlight(.queued) }

    fileprivate var isFinished: Bool { stage != .unknown && !isInFlight }
}
