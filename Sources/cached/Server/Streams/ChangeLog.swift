import CacheKey

/// The keys that have changed, in order, for readers at different positions.
///
/// A key that changes again moves to the end. So a reader that was away finds each key once, however often it has
/// changed, and the log is never longer than the number of keys.
struct ChangeLog {
    /// A position between two changes.
    struct Cursor: Hashable, Comparable {
        fileprivate var number: UInt64 = 0

        static func < (left: Cursor, right: Cursor) -> Bool { left.number < right.number }
    }

    /// The largest number of keys held. A reader that falls farther behind has to start again.
    private let limit: Int
    /// In the order of their numbers. An element is outdated if `latest` has a higher number for its key.
    private var changes: [(number: UInt64, key: CacheKey)] = []
    private var latest: [CacheKey: UInt64] = [:]
    /// All changes before this position are forgotten.
    private var start = Cursor()
    /// The position after the last change.
    private(set) var end = Cursor()

    init(limit: Int = 200_000) {
        self.limit = limit
    }

    /// The number of keys held.
    var count: Int { latest.count }

    mutating func append(_ keys: some Sequence<CacheKey>) {
        for key in keys {
            end.number += 1
            changes.append((end.number, key))
            latest[key] = end.number
        }
        if changes.count > 2 * latest.count + 64 { dropOutdated() }
        if latest.count > limit { forgetOlderHalf() }
    }

    /// The first `limit` keys that have changed after a cursor, and the cursor after them; `nil` if some of them
    /// are forgotten.
    func read(after cursor: Cursor, limit: Int) -> (keys: [CacheKey], cursor: Cursor)? {
        guard cursor >= start else { return nil }
        var keys: [CacheKey] = []
        for change in changes[firstIndex(after: cursor)...] where isLatest(change) {
            guard keys.count < limit else { return (keys, Cursor(number: change.number - 1)) }
            keys.append(change.key)
        }
        return (keys, end)
    }

    /// Forgets the changes before a position, because all readers have passed it.
    mutating func forget(upTo cursor: Cursor) {
        guard cursor > start else { return }
        start = cursor
        let count = firstIndex(after: cursor)
        // Removing them moves the rest, so it waits until they are at least half of all.
        guard count * 2 >= changes.count else { return }
        drop(first: count)
    }

    private func isLatest(_ change: (number: UInt64, key: CacheKey)) -> Bool {
        latest[change.key] == change.number
    }

    private func firstIndex(after cursor: Cursor) -> Int {
        var range = changes.startIndex..<changes.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if changes[middle].number <= cursor.number {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    private mutating func dropOutdated() {
        changes.removeAll { latest[$0.key] != $0.number }
    }

    private mutating func forgetOlderHalf() {
        dropOutdated()
        let count = changes.count / 2
        start = max(start, Cursor(number: changes[count - 1].number))
        drop(first: count)
    }

    private mutating func drop(first count: Int) {
        for change in changes[..<count] where isLatest(change) { latest[change.key] = nil }
        changes.removeFirst(count)
    }
}
