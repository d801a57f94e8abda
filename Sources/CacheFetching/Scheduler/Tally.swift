/// Counts things for each key, such as the running downloads of each user. Keys that have none take no memory.
package struct Tally<Key: Hashable & Sendable>: Sendable {
    /// The counts of all keys that have any.
    package private(set) var counts: [Key: Int] = [:]
    /// The sum of all counts.
    package private(set) var total = 0

    package init() {}

    package subscript(key: Key) -> Int { counts[key] ?? 0 }

    package mutating func add(_ more: Int = 1, to key: Key) {
        guard more != 0 else { return }
        total += more
        counts[key, default: 0] += more
    }

    package mutating func remove(_ fewer: Int = 1, from key: Key) {
        let left = self[key] - fewer
        precondition(left >= 0, "\(key) has \(self[key]), and \(fewer) are removed")
        total -= fewer
        counts[key] = left > 0 ? left : nil
    }
}
