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
        /// How many rows the first row on the screen has moved up.
        var rowsRemovedAbove = 0
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
    ///   - row: the first row on the screen.
    mutating func changed(_ items: [Item], removed: [String], firstOnScreen row: Int)
        -> UpdateSummary
    {
        var summary = UpdateSummary()
        var dropped: Set<Int> = []
        // The items of a reply have no order.
        for item in items.sorted(by: { $0.url < $1.url }) { apply(item, &summary, &dropped) }
        for key in removed {
            guard let position = positions[key], rows[position].failure == nil else { continue }
            end(position, &summary, &dropped)
        }
        forgetOldFailures(&dropped)
        summary.rowsRemovedAbove = arrange(without: dropped, firstOnScreen: row)
        return summary
    }

    /// Applies the progress of one download.
    mutating func progressed(_ item: Item) {
        guard item.phase != nil, let position = positions[item.key] else { return }
        rows[position].fraction = item.fraction ?? 0
    }

    /// Removes all failures. Returns how many rows the first row on the screen has moved up.
    mutating func clearFailures(firstOnScreen row: Int) -> Int {
        arrange(
            without: Set(rows.indices.filter { rows[$0].failure != nil }), firstOnScreen: row)
    }

    private mutating func apply(
        _ item: Item, _ summary: inout UpdateSummary, _ dropped: inout Set<Int>
    ) {
        let position = positions[item.key]
        switch DownloadProgress.Stage(item) {
        case .inFlight(let phase):
            let isQueued = phase == .queued
            if let position, rows[position].failure == nil {
                rows[position].isQueued = isQueued
                return
            }
            if let position {
                rows[position] = Row(key: item.key, url: item.url, isQueued: isQueued)
            } else {
                positions[item.key] = rows.count
                rows.append(Row(key: item.key, url: item.url, isQueued: isQueued))
            }
            runningCount += 1
            summary.began += 1
            summary.latest = item.url
        case .failed(let failure):
            failed(item, failure, position, &summary)
        case .finished:
            guard let position else { return }
            guard let failure = item.failure else { return end(position, &summary, &dropped) }
            // The image is still cached, but its refresh failed.
            failed(item, failure, position, &summary)
        case .unknown:
            break
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
            key: item.key, url: item.url, isQueued: false, failure: failure,
            failureNumber: failureNumber)
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

    /// Removes the `dropped` rows and sorts the others. Returns how many rows the first row on the
    /// screen has moved up.
    private mutating func arrange(without dropped: Set<Int>, firstOnScreen row: Int) -> Int {
        let isSorted = !zip(rows, rows.dropFirst()).contains { $1.sortKey < $0.sortKey }
        guard !dropped.isEmpty || !isSorted else { return 0 }
        let anchor = rows.indices.dropFirst(row).first { !dropped.contains($0) }.map {
            rows[$0].key
        }
        let kept = rows.indices.filter { !dropped.contains($0) }.map { rows[$0] }
        // The sort is stable.
        rows = kept.sorted { $0.sortKey < $1.sortKey }
        positions = Dictionary(
            rows.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        // If the screen shows the start of the list, it stays there.
        guard row > 0, let anchor, let position = positions[anchor] else { return 0 }
        return row - position
    }
}

extension DownloadTable.Row {
    /// The sort key: running downloads, then failures, then queued downloads.
    fileprivate var sortKey: (Int, Int) {
        if failure != nil { (1, -failureNumber) } else { (isQueued ? 2 : 0, 0) }
    }
}
