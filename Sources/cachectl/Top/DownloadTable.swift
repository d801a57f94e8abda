import CacheWire

/// The downloads under way: first those whose turn has come, in that order, and among them those that
/// failed; then those that wait. Knows of each what does not change from moment to moment. Pure.
struct DownloadTable {
    struct Row: Hashable {
        let key: String
        let url: String
        /// Waits for its turn.
        var isQueued: Bool
        /// Why it ended; `nil` while it is under way.
        var failure: Failure?
    }

    /// What a change did to the table.
    struct Change: Hashable {
        var began = 0
        var ended = 0
        /// The URL of the last that did either.
        var latest: String?
        /// How many rows a given one has moved up.
        var lostAbove = 0
    }

    private(set) var rows: [Row] = []
    private(set) var runningCount = 0
    private var positions: [String: Int] = [:]

    /// Failures that are shown; the oldest go first.
    private static let failureLimit = 100

    var failureCount: Int { rows.count - runningCount }

    /// Takes in what was said about some.
    ///
    /// - Parameter row: the first on the screen.
    mutating func changed(_ items: [Item], removed: [String], firstOnScreen row: Int) -> Change {
        var change = Change()
        var lost: Set<Int> = []
        // What is told at once comes in no order.
        for item in items.sorted(by: { $0.url < $1.url }) { take(item, &change, &lost) }
        for key in removed {
            guard let position = positions[key], rows[position].failure == nil else { continue }
            end(position, &change, &lost)
        }
        forgetOldFailures(&lost)
        change.lostAbove = arrange(without: lost, firstOnScreen: row)
        return change
    }

    /// Forgets what failed; how many rows the first on the screen has moved up.
    mutating func clearFailures(firstOnScreen row: Int) -> Int {
        arrange(
            without: Set(rows.indices.filter { rows[$0].failure != nil }), firstOnScreen: row)
    }

    private mutating func take(_ item: Item, _ change: inout Change, _ lost: inout Set<Int>) {
        let position = positions[item.key]
        switch Download.Stage(item) {
        case .inFlight(let phase):
            let isQueued = phase == .queued
            if let position, rows[position].failure == nil {
                rows[position].isQueued = isQueued
                return
            }
            if let position {
                rows[position].failure = nil
                rows[position].isQueued = isQueued
            } else {
                positions[item.key] = rows.count
                rows.append(Row(key: item.key, url: item.url, isQueued: isQueued))
            }
            runningCount += 1
            change.began += 1
            change.latest = item.url
        case .failed(let failure):
            guard position.map({ rows[$0].failure == nil }) ?? true else { return }
            if let position {
                rows[position].failure = failure
                rows[position].isQueued = false
                runningCount -= 1
            } else {
                // It failed so soon that its beginning was not told.
                positions[item.key] = rows.count
                rows.append(Row(key: item.key, url: item.url, isQueued: false, failure: failure))
                change.began += 1
            }
            change.ended += 1
            change.latest = item.url
        case .over:
            if let position { end(position, &change, &lost) }
        case .unknown:
            break
        }
    }

    private mutating func end(_ position: Int, _ change: inout Change, _ lost: inout Set<Int>) {
        guard lost.insert(position).inserted, rows[position].failure == nil else { return }
        runningCount -= 1
        change.ended += 1
        change.latest = rows[position].url
        positions[rows[position].key] = nil
    }

    private func forgetOldFailures(_ lost: inout Set<Int>) {
        let failed = rows.indices.filter { rows[$0].failure != nil && !lost.contains($0) }
        lost.formUnion(failed.dropLast(Self.failureLimit))
    }

    /// Takes rows away and puts those that wait behind the others; how many rows the one that was the
    /// first on the screen has moved up.
    private mutating func arrange(without lost: Set<Int>, firstOnScreen row: Int) -> Int {
        let isSorted = !zip(rows, rows.dropFirst()).contains { $0.isQueued && !$1.isQueued }
        guard !lost.isEmpty || !isSorted else { return 0 }
        let anchor = rows.indices.dropFirst(row).first { !lost.contains($0) }.map { rows[$0].key }
        let kept = rows.indices.filter { !lost.contains($0) }.map { rows[$0] }
        rows = kept.filter { !$0.isQueued } + kept.filter(\.isQueued)
        positions = Dictionary(
            rows.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        // At its top the screen shows what is first, whatever was.
        guard row > 0, let anchor, let place = positions[anchor] else { return 0 }
        return row - place
    }
}
