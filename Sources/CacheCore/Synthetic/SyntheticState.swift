internal import CacheKey

/// A cache of entries nobody fetched and without any file, to measure what it takes in memory and how
/// long it takes to choose victims.
package struct SyntheticState: ~Copyable {
    private var state = CacheState(transferLimit: 1)

    /// Fills it.
    ///
    /// - Parameter pinned: pins every so many-th entry; `nil` for none.
    package init(count: Int, pinningEvery pinned: Int? = nil) {
        var noise = SystemRandomNumberGenerator()
        for number in 0..<count {
            // Keys are digests; anything less random would flatter or wrong the table.
            let key = CacheKey(high: noise.next() & ~0xF000 | 0x5000, low: noise.next())
            let isPinned = pinned.map { number % $0 == 0 } ?? false
            _ = state.catalog.insert(key, Self.facts(number, isPinned))
        }
    }

    private static func facts(_ number: Int, _ isPinned: Bool) -> EntryFacts {
        let time = UnixTime(rawValue: 1_700_000_000 + UInt32(number))
        return EntryFacts(
            size: 22_000, allocated: 24_576, mediaType: .png, width: 85, height: 86,
            fetchedAt: time, freshUntil: time, lastUsedAt: FileTime(time), isPinned: isPinned)
    }

    /// Uses every entry once, in no particular order.
    package mutating func useAll() {
        var position = 0
        var hasMore = true
        while hasMore {
            var keys: [CacheKey] = []
            hasMore = state.catalog.index.readStretch(&position) { key, _ in keys.append(key) }
            for key in keys { state.catalog.used(key, at: .now) }
        }
    }

    /// The same in an order that has nothing to do with where entries lie in memory.
    package mutating func useAllShuffled() {
        for key in state.catalog.index.inOrderOfUse().map(\.key).shuffled() {
            state.catalog.used(key, at: .now)
        }
    }

    /// Takes all uses, as if they were written to the files.
    package mutating func flushAccessTimes() {
        while state.catalog.accessTimes.pendingCount > 0 {
            let uses = state.catalog.takeAccessTimes(limit: Cache.useBatch)
            state.catalog.accessTimesFlushed(uses.map(\.key))
        }
    }

    /// Evicts all that may go, slice by slice; how many that were.
    package mutating func evictAll() -> Int {
        let goal = EvictionGoal(bytes: 0)
        var effects = Effects()
        var count = 0
        while true {
            let slice = state.evictionSlice(goal, isOwn: false, &effects)
            state.unlinked(slice.victims, &effects)
            count += slice.victims.count
            if slice.isLast { return count }
        }
    }
}
