import CacheKey

/// The images that were evicted before they were used: 32 bits of each key, the latest for about as many images as nine
/// tenths of the entries. S3-FIFO keeps as many (Yang and others, SOSP 2023).
///
/// The keys are in sets of sixteen. A new one takes the place of the oldest of its set.
struct Ghosts: Sendable {
    private static let setSize = 16
    /// The latest of each set is the first; zero where there is none.
    private var sets: [SIMD16<UInt32>] = [.zero]

    /// Remembers a key.
    ///
    /// - Parameter entries: the number of entries that the cache holds.
    mutating func insert(_ key: CacheKey, beside entries: Int) {
        let count = max(1, entries * 9 / 10 / Self.setSize)
        // Few are lost if the number of sets follows that of the entries only roughly.
        if count * 4 > sets.count * 5 || count * 2 < sets.count { divide(into: count) }
        insert(Self.tag(key))
    }

    /// Forgets a key. Returns whether it was remembered.
    mutating func remove(_ key: CacheKey) -> Bool {
        let tag = Self.tag(key)
        let number = number(of: tag)
        guard let place = sets[number].indices.first(where: { sets[number][$0] == tag }) else {
            return false
        }
        for later in place..<Self.setSize - 1 { sets[number][later] = sets[number][later + 1] }
        sets[number][Self.setSize - 1] = 0
        return true
    }

    private mutating func insert(_ tag: UInt32) {
        let number = number(of: tag)
        for place in (1..<Self.setSize).reversed() {
            sets[number][place] = sets[number][place - 1]
        }
        sets[number][0] = tag
    }

    private mutating func divide(into count: Int) {
        let old = sets
        sets = Array(repeating: .zero, count: count)
        for place in (0..<Self.setSize).reversed() {
            for set in old where set[place] != 0 { insert(set[place]) }
        }
    }

    private func number(of tag: UInt32) -> Int { Int((UInt64(tag) * UInt64(sets.count)) >> 32) }

    /// Keys are digests, so any of their bits are spread as evenly as hashed ones.
    private static func tag(_ key: CacheKey) -> UInt32 {
        max(1, UInt32(truncatingIfNeeded: key.high >> 32 ^ key.low))
    }
}
