import CacheWire

/// The downloads that `top` shows: running ones in the order of their start, then failures with the
/// newest first, then queued downloads. It keeps only the facts that are needed for rows outside
/// the screen. Pure.
struct DownloadTable {
    struct Row: Hashable {
        let key: String
        let url: String
        /// Whether the download waits for a slot.
        var isQueued: Bool
        /// Whether a cached image is being refreshed.
        var isRefresh = false
        /// Why the download ended; `nil` while it is in progress.
        var failure: Failure?
        /// Numbers the failures; the newest has the highest number.
        var failureNumber = 0
        /// The last reported fraction, 0 to 1; 0 while the total is unknown.
        var fraction = 0.0
    }

    /// The effect of a change on the table.
    struct UpdateSummary: Hashable {
        var began = 0
        var ended = 0
        /// The URL of the last download that began or ended.
        var latest: String?
    }

    private(set) var rows: [Row] = []
    private(set) var runningCount = 0
    private var positions: [String: Int] = [:]
    private var failureNumber = 0

    /// The most failures to keep. The oldest are dropped.
    private static let failureLimit = 100

    var failureCount: Int { rows.count - runningCount }

    /// The fractions of all downloads in progress, added up.
    var runningParts: Double {
        rows.lazy.filter { $0.failure == nil }.reduce(0) { $0 + $1.fraction }
    }

    /// Applies the changes of a reply.
    ///
    /// - Parameters:
    ///   - items: the items of the reply.
    ///   - removed: the keys that are neither cached nor in flight.
    mutating func changed(_ items: [Item], removed: [String]) -> UpdateSummary {
        var summary = UpdateSummary()
        var dropped: Set<Int> = []
        // The items of a reply have no order.
        for item in items.sorted(by: { $0.url < $1.url }) { apply(item, &summary, &dropped) }
        for key in removed {
            guard let position = positions[key], rows[position].failure == nil else { continue }
            end(position, &summary, &dropped)
        }
        forgetOldFailures(&dropped)
        arrange(without: dropped)
        return summary
    }

    /// Applies the progress of one download.
    mutating func progressed(_ item: Item) {
        guard item.phase != nil, let position = positions[item.key] else { return }
        rows[position].fraction = item.fraction ?? 0
    }

    /// Removes the failures of these keys; all of them without any.
    mutating func clearFailures(_ keys: Set<String>? = nil) {
        arrange(
            without: Set(
                rows.indices.filter {
                    rows[$0].failure != nil && keys?.contains(rows[$0].key) != false
                }))
    }

    private mutating func apply(
        _ item: Item, _ summary: inout UpdateSummary, _ dropped: inout Set<Int>
    ) {
        let position = positions[item.key]
        if item.isInFlight {
            let isQueued = item.phase == .queued
            if let position, rows[position].failure == nil {
                rows[position].isQueued = isQueued
                return
            }
            let row = Row(
                key: item.key, url: item.url, isQueued: isQueued,
                isRefresh: item.state == .cached)
            if let position {
                rows[position] = row
            } else {
                positions[item.key] = rows.count
                rows.append(row)
            }
            runningCount += 1
            summary.began += 1
            summary.latest = item.url
        } else if let failure = item.failure, item.state == .missing || position != nil {
            // A cached image keeps its failure. It is a row if its refresh has failed now.
            failed(item, failure, position, &summary)
        } else if let position {
            end(position, &summary, &dropped)
        }
    }

    private mutating func failed(
        _ item: Item, _ failure: Failure, _ position: Int?, _ summary: inout UpdateSummary
    ) {
        let previous = position.flatMap { rows[$0].failure }
        // Every change of the item repeats its failure.
        guard failure != previous else { return }
        failureNumber += 1
        let row = Row(
            key: item.key, url: item.url, isQueued: false, isRefresh: item.state == .cached,
            failure: failure, failureNumber: failureNumber)
        if let position {
            rows[position] = row
            // The previous attempt had failed too, and the start of this one was not reported.
            guard previous == nil else { return }
            runningCount -= 1
        } else {
            // The download failed so early that its start was not reported.
            positions[item.key] = rows.count
            rows.append(row)
            summary.began += 1
        }
        summary.ended += 1
        summary.latest = item.url
    }

    private mutating func end(
        _ position: Int, _ summary: inout UpdateSummary, _ dropped: inout Set<Int>
    ) {
        guard dropped.insert(position).inserted, rows[position].failure == nil else { return }
        runningCount -= 1
        summary.ended += 1
        summary.latest = rows[position].url
        positions[rows[position].key] = nil
    }

    private func forgetOldFailures(_ dropped: inout Set<Int>) {
        let failed = rows.indices.filter { rows[$0].failure != nil && !dropped.contains($0) }
        guard failed.count > Self.failureLimit else { return }
        let newestFirst = failed.sorted { rows[$0].sortKey < rows[$1].sortKey }
        dropped.formUnion(newestFirst.dropFirst(Self.failureLimit))
    }

    /// Removes the `dropped` rows and sorts the others.
    private mutating func arrange(without dropped: Set<Int>) {
        let isSorted = !zip(rows, rows.dropFirst()).contains { $1.sortKey < $0.sortKey }
        guard !dropped.isEmpty || !isSorted else { return }
        let kept = rows.indices.filter { !dropped.contains($0) }.map { rows[$0] }
        // The sort is stable.
        rows = kept.sorted { $0.sortKey < $1.sortKey }
        positions = Dictionary(
            rows.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

extension DownloadTable.Row {
    /// The sort key: running downloads, then failures, then queued downloads.
    fileprivate var sortKey: (Int, Int) {
        if failure != nil { (1, -failureNumber) } else { (isQueued ? 2 : 0, 0) }
    }
}
