import CacheWire

/// The downloads under way: first those whose turn has come, in that order; then those that failed,
/// the newest first; then those that wait. Knows of each what is needed where it is not on the
/// screen. Pure.
struct DownloadTable {
    struct Row: Hashable {
        let key: String
        let url: String
        /// Waits for its turn.
        var isQueued: Bool
        /// Why it ended; `nil` while it is under way.
        var failure: Failure?
        /// Counts failures, so that the newest is the greatest.
        var failureNumber = 0
        /// Received of total from 0 to 1, as it was told last; 0 while the total is unknown.
        var fraction = 0.0
    }

    /// What a change did to the table.
    struct UpdateSummary: Hashable {
        var began = 0
        var ended = 0
        /// The URL of the last that did either.
        var latest: String?
        /// How many rows a given one has moved up.
        var rowsRemovedAbove = 0
    }

    private(set) var rows: [Row] = []
    private(set) var runningCount = 0
    private var positions: [String: Int] = [:]
    private var failureNumber = 0

    /// Failures that are shown; the oldest go first.
    private static let failureLimit = 100

    var failureCount: Int { rows.count - runningCount }

    /// How many downloads the parts of those under way would make.
    var runningParts: Double {
        rows.lazy.filter { $0.failure == nil }.reduce(0) { $0 + $1.fraction }
    }

    /// Takes in what was said about some.
    ///
    /// - Parameter row: the first on the screen.
    mutating func changed(_ items: [Item], removed: [String], firstOnScreen row: Int)
        -> UpdateSummary
    {
        var summary = UpdateSummary()
        var lost: Set<Int> = []
        // What is told at once comes in no order.
        for item in items.sorted(by: { $0.url < $1.url }) { take(item, &summary, &lost) }
        for key in removed {
            guard let position = positions[key], rows[position].failure == nil else { continue }
            end(position, &summary, &lost)
        }
        forgetOldFailures(&lost)
        summary.rowsRemovedAbove = arrange(without: lost, firstOnScreen: row)
        return summary
    }

    /// Takes in how far one is.
    mutating func progressed(_ item: Item) {
        guard item.phase != nil, let position = positions[item.key] else { return }
        rows[position].fraction = item.fraction ?? 0
    }

    /// Forgets what failed; how many rows the first on the screen has moved up.
    mutating func clearFailures(firstOnScreen row: Int) -> Int {
        arrange(
            without: Set(rows.indices.filter { rows[$0].failure != nil }), firstOnScreen: row)
    }

    private mutating func take(_ item: Item, _ summary: inout UpdateSummary, _ lost: inout Set<Int>)
    {
        let position = positions[item.key]
        switch Download.Stage(item) {
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
            guard let failure = item.failure else { return end(position, &summary, &lost) }
            // The image is here, and its next version is not.
            failed(item, failure, position, &summary)
        case .unknown:
            break
        }
    }

    private mutating func failed(
        _ item: Item, _ failure: Failure, _ position: Int?, _ summary: inout UpdateSummary
    ) {
        let former = position.flatMap { rows[$0].failure }
        // The same is told with every change of the item.
        guard failure != former else { return }
        failureNumber += 1
        let row = Row(
            key: item.key, url: item.url, isQueued: false, failure: failure,
            failureNumber: failureNumber)
        if let position {
            rows[position] = row
            // The attempt before failed, too, and that of this one was not told.
            guard former == nil else { return }
            runningCount -= 1
        } else {
            // It failed so soon that its beginning was not told.
            positions[item.key] = rows.count
            rows.append(row)
            summary.began += 1
        }
        summary.ended += 1
        summary.latest = item.url
    }

    private mutating func end(
        _ position: Int, _ summary: inout UpdateSummary, _ lost: inout Set<Int>
    ) {
        guard lost.insert(position).inserted, rows[position].failure == nil else { return }
        runningCount -= 1
        summary.ended += 1
        summary.latest = rows[position].url
        positions[rows[position].key] = nil
    }

    private func forgetOldFailures(_ lost: inout Set<Int>) {
        let failed = rows.indices.filter { rows[$0].failure != nil && !lost.contains($0) }
        guard failed.count > Self.failureLimit else { return }
        let newestFirst = failed.sorted { rows[$0].place < rows[$1].place }
        lost.formUnion(newestFirst.dropFirst(Self.failureLimit))
    }

    /// Takes rows away and puts the others in order; how many rows the one that was the first on the
    /// screen has moved up.
    private mutating func arrange(without lost: Set<Int>, firstOnScreen row: Int) -> Int {
        let isSorted = !zip(rows, rows.dropFirst()).contains { $1.place < $0.place }
        guard !lost.isEmpty || !isSorted else { return 0 }
        let anchor = rows.indices.dropFirst(row).first { !lost.contains($0) }.map { rows[$0].key }
        let kept = rows.indices.filter { !lost.contains($0) }.map { rows[$0] }
        // The sort keeps equals as they are.
        rows = kept.sorted { $0.place < $1.place }
        positions = Dictionary(
            rows.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        // At its top the screen shows what is first, whatever was.
        guard row > 0, let anchor, let place = positions[anchor] else { return 0 }
        return row - place
    }
}

extension DownloadTable.Row {
    /// Rows stand in this order: at work, failed, waiting.
    fileprivate var place: (Int, Int) {
        if failure != nil { (1, -failureNumber) } else { (isQueued ? 2 : 0, 0) }
    }
}
