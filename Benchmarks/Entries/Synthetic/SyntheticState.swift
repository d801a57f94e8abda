import CacheDisk
import CacheKey
import CacheModel
import CacheValues
import ImageFormats

/// A cache of entries without files, to measure the memory it takes and how long it takes to choose
/// victims.
struct SyntheticState: ~Copyable {
    private var state = CacheState(transferLimit: 1)
    /// The time of the latest use, in nanoseconds.
    private var clock: Int64 = 1_800_000_000_000_000_000

    /// - Parameter pinned: pins every entry whose number is a multiple of this; `nil` for none.
    init(count: Int, pinningEvery pinned: Int? = nil) {
        var noise = SystemRandomNumberGenerator()
        for number in 0..<count {
            // Keys are digests. Less random keys would change what the index takes.
            let key = CacheKey(high: noise.next() & ~0xF000 | 0x5000, low: noise.next())
            let isPinned = pinned.map { number % $0 == 0 } ?? false
            _ = state.catalog.insert(key, Self.facts(number, isPinned))
        }
    }

    private static func facts(_ number: Int, _ isPinned: Bool) -> EntryFacts {
        let time = UnixTime(rawValue: 1_700_000_000 + UInt32(number))
        return EntryFacts(
            size: 22_000, allocated: 24_576, mediaType: .png, width: 85, height: 86,
            fetchedAt: time, freshUntil: time, lastUsedAt: FileTime(time), isPinned: isPinned,
            inode: UInt64(number) + 1,
            digestPrefix: UInt32(truncatingIfNeeded: number &* 0x9E37_79B1) | 1)
    }

    /// Uses every entry once, in no particular order.
    mutating func useAll() {
        var position = 0
        var hasMore = true
        while hasMore {
            var keys: [CacheKey] = []
            hasMore = state.catalog.index.readStretch(&position) { key, _ in keys.append(key) }
            for key in keys { use(key) }
        }
    }

    /// Uses every entry once, in an order that is unrelated to the places of entries in memory.
    mutating func useAllShuffled() {
        for key in state.catalog.index.inOrderOfUse().map(\.key).shuffled() { use(key) }
    }

    private mutating func use(_ key: CacheKey) {
        clock += 1
        state.catalog.used(key, at: FileTime(nanoseconds: clock))
    }

    /// Takes all uses, as if they were written to the files.
    mutating func flushAccessTimes() {
        while state.catalog.index.touchedCount > 0 {
            let uses = state.catalog.takeAccessTimes(limit: 512)
            state.catalog.accessTimesFlushed(uses.map(\.key))
        }
    }

    /// Evicts everything that can be evicted, slice by slice; the number of entries.
    mutating func evictAll() -> Int {
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
