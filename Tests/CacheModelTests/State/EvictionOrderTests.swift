import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheModel

private let block: Int64 = 4096

/// The two classes of the order of eviction: unused images are evicted before used ones.
@Suite("State: order of eviction", .timeLimit(.minutes(5)))
struct EvictionOrderTests {
    private static let fetched: UInt32 = 1_790_000_000
    let script = StateScript(bytes: 100 * block)

    /// An entry that was last used this number of seconds after it was fetched.
    private func facts(usedAfter seconds: UInt32, from start: UInt32 = 0) -> EntryFacts {
        Sample.facts(
            allocated: block, fetchedAt: Self.fetched + start,
            lastUsedAt: Self.fetched + start + seconds)
    }

    /// Everything, in the order in which it is evicted.
    private func evicted(_ other: StateScript? = nil) -> [String] {
        let script = other ?? script
        var victims: [String] = []
        while let victim = script.evicts(EvictionGoal(bytes: 0), limit: 1).first {
            victims.append(victim)
        }
        return victims
    }

    @Test func whatWasNeverUsedGoesFirst() {
        script.has("used", facts(usedAfter: 10))
        for (number, name) in ["a", "b", "c", "d"].enumerated() {
            script.has(name, facts(usedAfter: 0, from: 1000 + UInt32(number)))
        }
        script.has("late", facts(usedAfter: 2000))
        #expect(evicted() == ["a", "b", "c", "d", "used", "late"])
    }

    @Test func whatIsNewGoesInTheOrderOfUse() {
        script.has("used", facts(usedAfter: 10))
        for (number, name) in ["a", "b", "c", "d"].enumerated() {
            script.has(name, facts(usedAfter: 0, from: 1000 + UInt32(number)))
        }
        script.has("late", facts(usedAfter: 1011))
        // For a and b the first ten seconds have ended at the latest use.
        #expect(evicted() == ["a", "b", "used", "c", "d", "late"])
    }

    @Test func aUseInTheFirstSecondsBelongsToTheDownload() {
        script.has("opened", facts(usedAfter: 9))
        script.has("used", facts(usedAfter: 11))
        script.has("new", facts(usedAfter: 0, from: 1000))
        script.has("late", facts(usedAfter: 2000))
        #expect(evicted() == ["opened", "new", "used", "late"])
    }

    @Test func aUseMovesAnEntryToTheOtherPart() {
        for (number, name) in ["a", "b", "c"].enumerated() {
            script.has(name, facts(usedAfter: 0, from: UInt32(number)))
        }
        _ = script.want("a", by: nil, now: Self.fetched + 500)
        #expect(evicted() == ["b", "c", "a"])
    }

    @Test func theLeastRecentlyUsedOfAllGoesIfTheUsedHoldTooMuch() {
        for number in 0..<8 { script.has("\(number)", facts(usedAfter: 100 + UInt32(number))) }
        script.has("new", facts(usedAfter: 0, from: 1000))
        script.has("8", facts(usedAfter: 2000))
        // Nine of ten blocks are more than four fifths, four of five are not.
        #expect(script.evicts(EvictionGoal(bytes: 5 * block)) == ["0", "1", "2", "3", "4"])
        #expect(script.evicts(EvictionGoal(bytes: 4 * block)) == ["new"])
        #expect(evicted() == ["5", "6", "7", "8"])
    }

    @Test func pinnedBytesCountForNeitherPart() {
        for number in 0..<4 { script.has("\(number)", facts(usedAfter: 100 + UInt32(number))) }
        script.has("new", facts(usedAfter: 0, from: 1000))
        for number in 0..<20 { script.has("p\(number)", facts(usedAfter: 2000)) }
        #expect(script.pins("p0") == [])
        for number in 1..<20 { _ = script.pins("p\(number)") }
        #expect(script.evicts(EvictionGoal(bytes: 24 * block)) == ["new"])
    }

    @Test func aNameThatWasNeverUsedGoesBeforeTheOthersOfItsFile() {
        func names(_ name: String, _ facts: EntryFacts) {
            var facts = facts
            (facts.inode, facts.isLinked, facts.digestPrefix) = (7, true, 9)
            script.has(name, facts)
        }
        script.has("old", facts(usedAfter: 70))
        names("used", facts(usedAfter: 100))
        names("unused", facts(usedAfter: 0, from: 200))
        script.has("new", facts(usedAfter: 0, from: 300))
        script.has("late", facts(usedAfter: 1000))
        #expect(script.state.disk.bytesUsed == 4 * block)
        #expect(script.state.disk.index.totals.used == 3 * block)
        // The first name frees nothing, so the eviction goes on.
        #expect(script.evicts(EvictionGoal(bytes: 3 * block)) == ["unused", "new"])
        #expect(script.evicts(EvictionGoal(bytes: 2 * block)) == ["old"])
        #expect(script.state.disk.index.totals.used == 2 * block)
    }

    /// A scan finds the same two classes by the times of the files, for any order of the directory.
    @Test func aScanRebuildsBothParts() {
        var images: [(name: String, facts: EntryFacts)] = []
        for number in 0..<40 {
            let age = UInt32(number * 37 % 40)
            let used: UInt32 = number % 3 == 0 ? 1000 + UInt32(number * 11 % 40) - age : 0
            images.append(("\(number)", facts(usedAfter: used, from: age)))
        }
        let restarted = StateScript(bytes: 100 * block)
        for (name, facts) in images.sorted(by: { $0.facts.lastUsedAt < $1.facts.lastUsedAt }) {
            script.has(name, facts)
        }
        let first = evicted()
        restarted.state.scanBegan()
        let start = restarted.state.disk.beginProbe()
        restarted.scans(
            images.map { .entry(restarted.key($0.name), .entry($0.facts)) }, since: start)
        let sorted = images.map { (key: restarted.key($0.name), lastUsedAt: $0.facts.lastUsedAt) }
            .sorted { ($0.lastUsedAt, $0.key) > ($1.lastUsedAt, $1.key) }
        restarted.state.disk.sort(sorted[...])
        #expect(restarted.scanFinishes())
        let again = evicted(restarted)
        #expect(first.count == 40)
        #expect(again == first)
    }
}
