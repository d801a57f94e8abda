import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk

/// The order that is listed is the one in which entries are evicted.
@Suite("The order of eviction", .timeLimit(.minutes(5)))
struct EvictionOrderTests {
    @Test(arguments: 0..<40)
    func isThatOfTheVictims(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var index = Index()
        for number in 0..<300 {
            let fetched = 1_790_000_000 + UInt32.random(in: 0..<2000, using: &random)
            // Some were never used, and some parts are small.
            let wasUsed = UInt32.random(in: 0..<100, using: &random) < UInt32(seed * 3 % 100)
            let used = fetched + (wasUsed ? .random(in: 10..<3000, using: &random) : 0)
            let facts = Sample.facts(
                allocated: 4096 * .random(in: 1..<9, using: &random), fetchedAt: fetched,
                lastUsedAt: used, isPinned: number % 17 == 0)
            let key = Sample.key("\(number)")
            index.insert(key, facts)
            guard number % 7 == 0 else { continue }
            // It comes back after its eviction.
            index.willEvict(key)
            index.remove(key)
            index.insert(key, facts)
        }
        var (position, hasMore) = (0, true)
        var all: [ListedEntry] = []
        while hasMore {
            hasMore = index.readStretch(&position) { all.append(ListedEntry(key: $0, facts: $1)) }
        }
        // As after a scan, the lists have the order of the times.
        let newestFirst = all.sorted {
            ($0.facts.lastUsedAt, $0.key) > ($1.facts.lastUsedAt, $1.key)
        }
        for entry in newestFirst {
            index.makeOldest(entry.key, usedAt: entry.facts.lastUsedAt)
        }
        func order(_ limit: Int) -> [CacheKey] {
            var order = EvictionOrder(limit: limit, totals: index.totals)
            for entry in all { order.add(entry) }
            return order.entries().filter { $0.usageClass != .pinned }.map(\.entry.key)
        }
        let (whole, start) = (order(.max), order(7))
        var victims: [CacheKey] = []
        var search = VictimPosition()
        while let victim = index.nextVictim(&search, unless: { _ in false }) {
            victims.append(victim)
            index.remove(victim)
        }
        #expect(whole == victims && !victims.isEmpty)
        #expect(start == Array(victims.prefix(7)))
    }
}
