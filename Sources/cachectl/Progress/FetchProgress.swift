import CacheWire

/// The progress of all downloads of a fetch. Pure: the time is a parameter, and there are no side
/// effects.
struct FetchProgress {
    /// In the order of the URLs.
    private(set) var downloads: [DownloadProgress]
    private let positions: [String: Int]
    private var pacer = LabelPacer()
    private var pace = Pace()

    init(urls: [String]) {
        positions = Dictionary(zip(urls, urls.indices), uniquingKeysWith: { first, _ in first })
        downloads = urls.map { DownloadProgress(url: $0) }
    }

    /// Applies the items of a reply. `now` counts from any fixed moment.
    mutating func replied(_ items: [Item], now: Duration) {
        for item in items {
            guard let position = positions[item.url] else { continue }
            let before = downloads[position].item
            downloads[position].changed(to: item, now: now)
            if before?.state != item.state || before?.phase != item.phase {
                pacer.announced(item.url, now: now)
            }
        }
        pace.reached(done, now: now)
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
            + downloads.lazy.filter { $0.isInFlight && !$0.isRunning }
            .prefix(limit - working.count)
    }

    /// Whether there is anything to draw.
    var isActive: Bool { downloads.contains { $0.isInFlight } }

    var overall: OverallProgress {
        let total = positions.count
        let ended = positions.values.filter { downloads[$0].isFinished }
        let rates = downloads.lazy.filter { $0.item?.phase == .receiving }.compactMap(
            \.rate.bytesPerSecond)
        return OverallProgress(
            finished: ended.count,
            failed: ended.count { downloads[$0].item?.lastFailure != nil }, total: total,
            fraction: total > 0 ? min(1, done / Double(total)) : 0,
            bytesPerSecond: rates.isEmpty ? nil : rates.reduce(0, +),
            secondsLeft: pace.secondsLeft(of: total), label: pacer.label)
    }

    /// The downloads that have ended, and the parts of those that are in flight.
    private var done: Double {
        positions.values.reduce(0) { sum, position in
            let download = downloads[position]
            return sum + (download.isFinished ? 1 : download.fraction ?? 0)
        }
    }
}

extension DownloadProgress {
    fileprivate var isRunning: Bool { isInFlight && item?.phase != .queued }

    fileprivate var isFinished: Bool { item != nil && !isInFlight }
}
