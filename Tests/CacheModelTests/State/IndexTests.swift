import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching

@Suite("Index", .timeLimit(.minutes(5)))
struct IndexTests {
    @Test func recordsAUseOnceAndOnlyForStoredKeys() {
        var index = Index()
        let time = FileTime(UnixTime(rawValue: 1_790_000_500))
        let ofNobody = index.touch(Sample.key("a"), at: time)
        #expect(!ofNobody)
        index.insert(Sample.key("a"), Sample.facts())
        for _ in 0..<2 { _ = index.touch(Sample.key("a"), at: time) }
        index.remove(Sample.key("a"))
        // This entry gets the place of the other.
        index.insert(Sample.key("b"), Sample.facts())
        let ofUntouched = index.takeTouches(limit: 9)
        #expect(ofUntouched.isEmpty)
        for _ in 0..<2 { _ = index.touch(Sample.key("b"), at: time) }
        #expect(index.touchedCount == 1)
        let uses = index.takeTouches(limit: 9)
        #expect(uses.map(\.key) == [Sample.key("b")])
        #expect(uses.map(\.time) == [time])
        let taken = index.takeTouches(limit: 9)
        #expect(taken.isEmpty)
    }

    /// Entries that are used all the time do not keep the times of others from their files.
    @Test func theTimesOfAllUsesAreTakenInTurn() {
        var index = Index()
        let keys = (0..<500).map { Sample.key("\($0)") }
        for key in keys { index.insert(key, Sample.facts()) }
        var time = FileTime(UnixTime(rawValue: 1_790_000_500))
        func use(_ key: CacheKey) {
            time = time.successor
            _ = index.touch(key, at: time)
        }
        keys.forEach(use)
        var taken: Set<CacheKey> = []
        for _ in 0..<(500 / 20) {
            taken.formUnion(index.takeTouches(limit: 20).map(\.key))
            keys.prefix(20).forEach(use)
        }
        #expect(taken == Set(keys))
    }

    @Test(arguments: [UInt64](1...4))
    func agreesWithADictionaryAndAList(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = IndexModel()
        var index = Index()
        // Few distinct top bits cause long chains.
        let keys = (0..<300).map { number -> CacheKey in
            let top: UInt64 = [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFF].randomElement(
                using: &random)!
            return CacheKey(high: top << 32 | 0x5000, low: UInt64(number))
        }
        var spared: Set<CacheKey> = []
        for number in 0..<6000 {
            let key = keys.randomElement(using: &random)!
            let facts = Sample.facts(
                size: Int64(number), allocated: Int64(number % 64) * 512,
                fetchedAt: UInt32(number - Int.random(in: 0..<min(20, number + 1), using: &random)),
                lastUsedAt: UInt32(number))
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                index.insert(key, facts)
                model.insert(key, facts)
            case 4:
                index.insertOldest(key, facts)
                model.insertOldest(key, facts)
            case 5..<7:
                let removed = index.remove(key)
                #expect(removed == model.remove(key), "seed \(seed), operation \(number)")
            case 7:
                _ = index.touch(key, at: FileTime(UnixTime(rawValue: UInt32(number))))
                model.touch(key, UInt32(number))
            case 8:
                let time = FileTime(UnixTime(rawValue: UInt32(number)))
                index.makeOldest(key, usedAt: time)
                model.makeOldest(key, time)
            case 9, 10:
                let isPinned = random.oneIn(2)
                let isDetached = index.setPinned(key, isPinned)
                #expect(isDetached == model.setPinned(key, isPinned))
            default:
                let updated = index.update(key, facts)
                #expect(updated == model.update(key, facts), "seed \(seed), operation \(number)")
            }
            let other = keys.randomElement(using: &random)!
            if spared.remove(other) == nil { spared.insert(other) }
            let victim = index.victim(sparing: spared)
            #expect(victim == model.victim(sparing: spared), "seed \(seed), operation \(number)")
            guard number % 20 == 0 else { continue }
            index.checkInvariants()
            let isRight =
                UsageClass.allCases.allSatisfy { index.keys(in: $0) == model.order($0) }
                && keys.allSatisfy { index.facts(of: $0) == model.facts[$0] }
                && index.allocated == model.allocated
            #expect(isRight, "seed \(seed), operation \(number)")
            if !isRight { return }
        }
    }

    @Test func growsWithoutLosingAnything() {
        var index = Index()
        let keys = (0..<20_000).map { Sample.key("\($0)") }
        for key in keys { index.insert(key, Sample.facts()) }
        index.checkInvariants()
        let (count, allocated) = (index.count, index.allocated)
        #expect(count == keys.count)
        #expect(allocated == Int64(keys.count) * 4096)
        let missing = keys.count { !index.contains($0) }
        #expect(missing == 0)
        let holdsStranger = index.contains(Sample.key("stranger"))
        #expect(!holdsStranger)
        let order = index.inOrderOfUse().map(\.key)
        #expect(order == keys.reversed())
        for key in keys.dropFirst(5000) { index.remove(key) }
        index.checkInvariants()
        // The index reuses freed positions before it takes new ones.
        for key in keys { index.insert(key, Sample.facts()) }
        index.checkInvariants()
        let finalCount = index.count
        #expect(finalCount == keys.count)
    }

    @Test(arguments: [1, 7, 40])
    func restoredEntriesTakeTheirPlaceInTheOrderOfUse(stride: Int) {
        var index = Index()
        let keys = (0..<40).map { Sample.key("\($0)") }
        let facts = (0..<40).map { Sample.facts(lastUsedAt: 1_790_000_000 + UInt32($0)) }
        for (key, facts) in zip(keys, facts) { index.insert(key, facts) }
        for first in 0..<stride {
            let some = Swift.stride(from: first, to: 40, by: stride)
            for number in some { index.remove(keys[number]) }
            for number in some.reversed() + [] { index.restore(keys[number], facts[number]) }
            index.checkInvariants()
            let order = index.inOrderOfUse().map(\.key)
            #expect(order == keys.reversed())
        }
    }

    @Test func pagesFollowTheOrderOfUse() {
        var index = Index()
        let keys = (0..<10).map { Sample.key("\($0)") }
        for key in keys { index.insert(key, Sample.facts()) }
        var pages: [[CacheKey]] = []
        var cursor: CacheKey?
        repeat {
            pages.append(index.inOrderOfUse(after: cursor, limit: 4).map(\.key))
            cursor = pages.last?.last
        } while cursor != nil
        #expect(pages.map(\.count) == [4, 4, 2, 0])
        #expect(Array(pages.joined()) == keys.reversed())
        let afterStranger = index.inOrderOfUse(after: Sample.key("gone"), limit: 4).count
        #expect(afterStranger == 0)
    }

    @Test func knowsIfItsOrderMatchesTheTimes() {
        var index = Index()
        let keys = (0..<4).map { CacheKey(high: 0x5000, low: UInt64($0)) }
        for key in keys { index.insert(key, Sample.facts(lastUsedAt: 10)) }
        var answers = [index.isInOrderOfTime]
        // The times are equal, but the lesser key is the more recent one.
        index.insert(keys[0], Sample.facts(lastUsedAt: 10))
        answers.append(index.isInOrderOfTime)
        _ = index.touch(keys[0], at: FileTime(UnixTime(rawValue: 20)))
        answers.append(index.isInOrderOfTime)
        _ = index.touch(keys[1], at: FileTime(UnixTime(rawValue: 19)))
        answers.append(index.isInOrderOfTime)
        index.remove(keys[0])
        answers.append(index.isInOrderOfTime)
        index.makeOldest(keys[2], usedAt: FileTime(UnixTime(rawValue: 11)))
        answers.append(index.isInOrderOfTime)
        #expect(answers == [true, false, true, false, true, false])
        index.checkInvariants()
    }

    @Test func aScanTakesTheTimesOfFilesThatAreLater() {
        var index = Index()
        let keys = (0..<4).map { Sample.key("\($0)") }
        for key in keys { index.insert(key, Sample.facts(lastUsedAt: 10)) }
        index.found(keys[0], usedAt: FileTime(UnixTime(rawValue: 20)))
        index.found(keys[1], usedAt: FileTime(UnixTime(rawValue: 9)))
        index.remove(keys[1])
        index.insert(keys[1], Sample.facts(lastUsedAt: 10))
        index.found(keys[3], usedAt: FileTime(UnixTime(rawValue: 10)))
        let times = keys.map { index.facts(of: $0)?.lastUsedAt.unixTime.rawValue }
        #expect(times == [20, 10, 10, 10])
        var (position, unscanned) = (0, [CacheKey]())
        _ = index.readUnscanned(&position) { unscanned.append($0) }
        #expect(Set(unscanned) == [keys[1], keys[2]])
        // Nothing has to be written to the files.
        #expect(index.touchedCount == 0)
        index.checkInvariants()
    }

    @Test func readingInSlicesVisitsEveryEntryOnce() {
        var index = Index()
        let keys = (0..<10_000).map { Sample.key("\($0)") }
        for key in keys { index.insert(key, Sample.facts()) }
        var met: [CacheKey] = []
        var position = 0
        while index.readStretch(&position, { key, _ in met.append(key) }) {}
        #expect(met.count == keys.count)
        #expect(Set(met) == Set(keys))
    }

    /// Between two slices, removals close gaps in the table and insertions make it grow.
    @Test(arguments: [UInt64](1...3))
    func aReaderVisitsEveryLastingEntryWhileOthersChange(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var index = Index()
        let staying = (0..<9000).map { Sample.key("staying-\($0)") }
        let going = (0..<9000).map { Sample.key("going-\($0)") }
        for (stays, goes) in zip(staying, going) {
            index.insert(stays, Sample.facts())
            index.insert(goes, Sample.facts())
        }
        var met: [CacheKey: Int] = [:]
        var position = 0
        while index.readStretch(&position, { key, _ in met[key, default: 0] += 1 }) {
            for key in going where random.oneIn(3) { index.remove(key) }
            for number in 0..<3000 {
                index.insert(Sample.key("new-\(position)-\(number)"), Sample.facts())
            }
            // The facts are replaced, but the key stays in the index throughout.
            for key in staying where random.oneIn(10) { index.insert(key, Sample.facts()) }
        }
        index.checkInvariants()
        #expect(staying.allSatisfy { met[$0] == 1 })
    }

    @Test func anEntryTakes68Bytes() {
        #expect(MemoryLayout<Entry>.stride == 68)
    }

    /// One image in a few thousand is so large.
    @Test func measuresThatHaveNoRoomInAnEntryAreKept() {
        var index = Index()
        let sizes: [Int64] = [0, 1, 511, 512, 1 << 32 - 1, 1 << 32, 1 << 40]
        let sides: [Int] = [1, 65_535, 65_536, Int(UInt32.max)]
        var facts: [CacheKey: EntryFacts] = [:]
        for size in sizes {
            for blocks in [0, 1, size / 512, size / 512 + 9, size / 512 + 40_000] {
                for side in sides {
                    var one = Sample.facts(size: size, allocated: blocks * 512)
                    (one.width, one.height) = (side, 7)
                    facts[Sample.key("\(facts.count)")] = one
                }
            }
        }
        for (key, one) in facts { index.insert(key, one) }
        let isRight = facts.allSatisfy { index.facts(of: $0.key) == $0.value }
        #expect(isRight)
        index.checkInvariants()
        // Large ones become small, and the other way round.
        let others = facts.values.reversed()
        for (key, other) in zip(facts.keys, others) {
            facts[key] = other
            let isThere = index.update(key, other)
            #expect(isThere)
        }
        let isStillRight = facts.allSatisfy { index.facts(of: $0.key) == $0.value }
        #expect(isStillRight)
        let allocated = index.allocated
        #expect(allocated == facts.values.reduce(0) { $0 + $1.allocated })
        for key in facts.keys { index.remove(key) }
        let rest = index.allocated
        #expect(rest == 0)
        index.checkInvariants()
    }

    @Test func whatComesBackAfterItsEvictionCountsAsUsed() {
        var index = Index()
        let keys = ["a", "b", "c"].map { Sample.key($0) }
        for key in keys { index.insert(key, Sample.facts()) }
        index.willEvict(keys[0])
        for key in keys.prefix(2) { index.remove(key) }
        for key in keys.prefix(2) { index.insert(key, Sample.facts()) }
        let hasReturned = keys.map { index.facts(of: $0)?.hasReturned }
        #expect(hasReturned == [true, false, false])
        // Its file does not say so.
        _ = index.update(keys[0], Sample.facts())
        let isKept = index.facts(of: keys[0])?.hasReturned
        #expect(isKept == true)
        // Something else was used later, so nothing is new.
        index.insert(Sample.key("d"), Sample.facts(lastUsedAt: 1_900_000_000))
        let victims = [index.victim(sparing: []), index.victim(sparing: [keys[2]])]
        #expect(victims == [keys[2], keys[1]])
        index.checkInvariants()
        // It was used now, so it is not remembered again.
        index.willEvict(keys[0])
        index.remove(keys[0])
        index.insert(keys[0], Sample.facts())
        let isUsed = index.facts(of: keys[0])?.hasReturned
        #expect(isUsed == false)
    }

    @Test func evictedImagesAreRememberedForNineTenthsOfTheEntries() {
        var ghosts = Ghosts()
        let (entries, keys) = (10_000, (0..<30_000).map { Sample.key("\($0)") })
        for key in keys { ghosts.insert(key, beside: entries) }
        let remembered = keys.map { ghosts.remove($0) }
        #expect(8000...9000 ~= remembered.count { $0 })
        #expect(remembered.suffix(4000).allSatisfy { $0 })
        #expect(!remembered.prefix(10_000).contains(true))
        let left = keys.count { ghosts.remove($0) }
        #expect(left == 0)
    }

    @Test func evictedImagesAreRememberedWhileTheCacheGrowsAndShrinks() {
        var ghosts = Ghosts()
        for (number, entries) in [100, 1000, 1100, 100_000, 3000].enumerated() {
            for key in 0..<100 { ghosts.insert(Sample.key("\(number) \(key)"), beside: entries) }
        }
        for number in 0..<5 {
            let remembered = (0..<100).count { ghosts.remove(Sample.key("\(number) \($0)")) }
            #expect(number == 0 ? remembered > 50 : remembered > 90, "\(number)")
        }
    }

    @Test func factsSurviveTheirPacking() {
        var index = Index()
        var facts = Sample.facts(isPinned: true)
        facts.freshUntil = UnixTime(rawValue: 1_790_009_999)
        index.insert(Sample.key("a"), facts)
        let first = index.facts(of: Sample.key("a"))
        #expect(first == facts)
        facts.width = nil
        facts.height = nil
        facts.freshUntil = nil
        facts.size = 1 << 40
        index.insert(Sample.key("a"), facts)
        let second = index.facts(of: Sample.key("a"))
        #expect(second == facts)
        let count = index.count
        #expect(count == 1)
    }
}

extension Index {
    fileprivate func victim(sparing spared: Set<CacheKey>) -> CacheKey? {
        var position = VictimPosition()
        return nextVictim(&position) { spared.contains($0) }
    }

    /// The list of a part, the most recently used first.
    fileprivate func keys(in usageClass: UsageClass) -> [CacheKey] {
        var keys: [CacheKey] = []
        var place = orders[usageClass.rawValue].newest
        while place != Self.none {
            keys.append(self[place].key)
            place = self[place].older
        }
        return keys
    }
}

/// A simple implementation of the index.
private struct IndexModel {
    var facts: [CacheKey: EntryFacts] = [:]
    /// Each part, most recently used first.
    private var orders: [UsageClass: [CacheKey]] = [:]

    var allocated: Int64 { facts.values.reduce(0) { $0 + $1.allocated } }

    func order(_ usageClass: UsageClass) -> [CacheKey] { orders[usageClass] ?? [] }

    private func usageClass(of key: CacheKey) -> UsageClass {
        guard let facts = facts[key] else { return .unused }
        let end = FileTime(facts.fetchedAt + 10)
        return facts.isPinned ? .pinned : facts.lastUsedAt < end ? .unused : .used
    }

    mutating func insert(_ key: CacheKey, _ new: EntryFacts) {
        _ = remove(key)
        facts[key] = new
        orders[usageClass(of: key), default: []].insert(key, at: 0)
    }

    mutating func insertOldest(_ key: CacheKey, _ new: EntryFacts) {
        _ = remove(key)
        facts[key] = new
        orders[usageClass(of: key), default: []].append(key)
    }

    mutating func remove(_ key: CacheKey) -> EntryFacts? {
        for usageClass in UsageClass.allCases { orders[usageClass]?.removeAll { $0 == key } }
        return facts.removeValue(forKey: key)
    }

    mutating func touch(_ key: CacheKey, _ time: UInt32) {
        guard var touched = facts[key] else { return }
        touched.lastUsedAt = FileTime(UnixTime(rawValue: time))
        insert(key, touched)
    }

    mutating func makeOldest(_ key: CacheKey, _ time: FileTime) {
        guard var known = facts[key], known.lastUsedAt <= time else { return }
        known.lastUsedAt = time
        insertOldest(key, known)
    }

    mutating func setPinned(_ key: CacheKey, _ isPinned: Bool) -> Bool {
        guard var new = facts[key] else { return false }
        new.isPinned = isPinned
        return update(key, new)
    }

    func victim(sparing spared: Set<CacheKey>) -> CacheKey? {
        let victims = UsageClass.allCases.map { usageClass in
            usageClass == .pinned ? nil : order(usageClass).last { !spared.contains($0) }
        }
        let unpinned = facts.filter { !$1.isPinned }
        let all = unpinned.values.reduce(0) { $0 + $1.allocated }
        let used = unpinned.filter { usageClass(of: $0.key) == .used }.values
            .reduce(0) { $0 + $1.allocated }
        if let unused = victims[0], used * 10 <= all * 9, !isNew(unused) { return unused }
        return victims.compactMap(\.self).min { useOrder($0) < useOrder($1) }
    }

    /// Whether nothing was used ten seconds after it was fetched, or later.
    private func isNew(_ key: CacheKey) -> Bool {
        let latest = UsageClass.allCases.compactMap {
            order($0).first.flatMap { facts[$0]?.lastUsedAt }
        }
        return facts[key].map { known in latest.allSatisfy { $0 < FileTime(known.fetchedAt + 10) } }
            ?? false
    }

    private func useOrder(_ key: CacheKey) -> (FileTime, CacheKey) {
        (facts[key]?.lastUsedAt ?? FileTime(nanoseconds: 0), key)
    }

    /// An entry that changes its part goes before all those that were used before it.
    mutating func update(_ key: CacheKey, _ new: EntryFacts) -> Bool {
        guard let old = facts[key] else { return false }
        let before = usageClass(of: key)
        facts[key] = new
        facts[key]?.lastUsedAt = old.lastUsedAt
        let usageClass = usageClass(of: key)
        guard usageClass != before else { return true }
        orders[before]?.removeAll { $0 == key }
        let others = order(usageClass)
        let next = others.filter { useOrder($0) < useOrder(key) }
            .max { useOrder($0) < useOrder($1) }
        var position = next.flatMap { others.firstIndex(of: $0) } ?? others.count
        // The order of the list can contradict the times.
        while position > 0, useOrder(others[position - 1]) < useOrder(key) { position -= 1 }
        orders[usageClass, default: []].insert(key, at: position)
        return true
    }
}
