import CacheDisk
import CacheKey
import CacheValues
import ImageFormats

/// The disk half of a cache with entries that have no files, to measure the memory it takes and how long it takes to choose
/// victims.
struct SyntheticState: ~Copyable {
    private var disk = DiskState(budget: .unlimited)
    /// The time of the latest use, in nanoseconds.
    private var clock: Int64 = 1_800_000_000_000_000_000

    /// - Parameter pinned: pins every entry whose number is a multiple of this; `nil` for none.
    init(count: Int, pinningEvery pinned: Int? = nil) {
        var noise = SystemRandomNumberGenerator()
        for number in 0..<count {
            // Keys are digests. Less random keys would change what the index takes.
            let key = CacheKey(high: noise.next() & ~0xF000 | 0x5000, low: noise.next())
            let isPinned = pinned.map { number % $0 == 0 } ?? false
            _ = disk.insert(key, Self.facts(number, isPinned))
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
            hasMore = disk.index.readStretch(&position) { key, _ in keys.append(key) }
            for key in keys { use(key) }
        }
    }

    /// Uses every entry once, in an order that is unrelated to the places of entries in memory.
    mutating func useAllShuffled() {
        for key in disk.index.inOrderOfUse().map(\.key).shuffled() { use(key) }
    }

    private mutating func use(_ key: CacheKey) {
        clock += 1
        disk.used(key, at: FileTime(nanoseconds: clock))
    }

    /// Takes all uses, as if they were written to the files.
    mutating func flushAccessTimes() {
        while disk.index.touchedCount > 0 {
            let uses = disk.takeAccessTimes(limit: 512)
            disk.accessTimes.flushed(uses.map(\.key))
        }
    }

    /// Evicts everything that can be evicted, slice by slice; the number of entries.
    mutating func evictAll() -> Int {
        let goal = EvictionGoal(bytes: 0)
        var count = 0
        while true {
            let slice = disk.evictionSlice(goal, isOwn: false) { _ in .none }
            disk.unlinked(slice.victims)
            count += slice.victims.count
            if slice.isLast { return count }
        }
    }
}
