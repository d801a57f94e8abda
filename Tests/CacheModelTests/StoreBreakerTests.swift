import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching

/// When the store is left alone, and when it is tried again.
@Suite("Store: breaker, queue and time limits")
struct StoreBreakerTests {
    private var breaker = StoreBreaker()
    private var random = SeededGenerator(seed: 1)
    private let start = ContinuousClock.now

    /// One of two answers is late, as while one of several nodes hangs.
    @Test mutating func aShareOfLateAnswersIsEnough() {
        var opened = false
        for _ in 0..<20 where !opened {
            breaker.succeeded()
            opened = breaker.failed(now: start, using: &random)
        }
        #expect(opened)
        #expect(!breaker.admits)
        #expect(breaker.reason == .late)
    }

    @Test mutating func fewLateAnswersAreNot() {
        for _ in 0..<100 {
            for _ in 0..<3 { breaker.succeeded() }
            let opened = breaker.failed(now: start, using: &random)
            #expect(!opened)
        }
        #expect(breaker.admits)
    }

    @Test mutating func oneRequestTriesTheStoreAndPausesGrow() throws {
        for _ in 0..<8 { _ = breaker.failed(now: start, using: &random) }
        var now = start
        var pauses: [Duration] = []
        for _ in 0..<8 {
            let end = try #require(breaker.end)
            pauses.append(now.duration(to: end))
            let early = breaker.timePassed(now: end - .milliseconds(1))
            let due = breaker.timePassed(now: end)
            #expect(!early && due)
            now = end
            #expect(breaker.admits)
            breaker.began()
            #expect(!breaker.admits)
            _ = breaker.failed(now: now, using: &random)
        }
        #expect(pauses[0] <= .milliseconds(1250))
        #expect(pauses[1] > pauses[0])
        #expect(pauses.allSatisfy { $0 <= .seconds(75) })
        #expect(pauses[7] >= .seconds(45))
        let last = try #require(breaker.end)
        _ = breaker.timePassed(now: last)
        breaker.began()
        breaker.succeeded()
        #expect(breaker.reason == nil && breaker.admits)
    }

    @Test mutating func aRefusalIsToldOnce() throws {
        let first = breaker.refused(now: start, using: &random)
        #expect(first)
        let end = try #require(breaker.end)
        _ = breaker.timePassed(now: end)
        breaker.began()
        let second = breaker.refused(now: end, using: &random)
        #expect(!second)
        let next = try #require(breaker.end)
        #expect(end.duration(to: next) > start.duration(to: end))
    }

    /// A store that is good for one answer after each pause is left alone for ever longer.
    @Test mutating func aRelapseLengthensThePause() throws {
        var pauses: [Duration] = []
        var now = start
        for _ in 0..<4 {
            var isLeftAlone = false
            while !isLeftAlone { isLeftAlone = breaker.failed(now: now, using: &random) }
            let end = try #require(breaker.end)
            pauses.append(now.duration(to: end))
            now = end
            _ = breaker.timePassed(now: now)
            breaker.began()
            breaker.succeeded()
            #expect(breaker.admits)
        }
        #expect(pauses == pauses.sorted() && pauses[3] > .seconds(5))
        for _ in 0..<20 { breaker.succeeded() }
        for _ in 0..<8 { _ = breaker.failed(now: now, using: &random) }
        let end = try #require(breaker.end)
        #expect(now.duration(to: end) < .seconds(2))
    }

    @Test func theTimeOfAnAnswerFollowsTheLastOnes() {
        var pace = StorePace()
        func limit() -> Duration { pace.patience(atMost: .seconds(1)).limit }
        func answers(_ time: Duration) { pace.answered(head: time, whole: time, size: 0) }
        #expect(limit() == .milliseconds(500))
        for _ in 0..<50 { answers(.milliseconds(2)) }
        #expect(limit() == .milliseconds(100))
        for _ in 0..<50 { answers(.milliseconds(150)) }
        #expect(limit() >= .milliseconds(150) && limit() < .milliseconds(200))
        pace.wasLate()
        #expect(limit() >= .milliseconds(300))
        for _ in 0..<9 { pace.wasLate() }
        #expect(limit() == .milliseconds(750))
        answers(.milliseconds(150))
        #expect(limit() < .milliseconds(300))
    }

    /// A body that drips is late after little more than the time of a head, however long it is.
    @Test func theTimeOfABodyDependsOnTheRateOfTheLastOnes() {
        var pace = StorePace()
        let slow = pace.patience(atMost: .seconds(1))
        #expect(slow.time(for: 0) == .milliseconds(500))
        #expect(slow.time(for: 2048) < .milliseconds(510))
        #expect(slow.time(for: 1 << 20) == .milliseconds(4500))
        for _ in 0..<20 {
            pace.answered(head: .milliseconds(2), whole: .milliseconds(102), size: 10_000_000)
        }
        let quick = pace.patience(atMost: .seconds(1))
        #expect(quick.time(for: 10_000_000) < .milliseconds(600))
        for _ in 0..<20 { pace.wasLate() }
        #expect(pace.patience(atMost: .seconds(1)).rate == slow.rate)
    }

    @Test func aFullQueueGivesUpItsOldest() {
        var queue = StoreQueue()
        func task(_ number: Int) -> StoreTask {
            StoreTask(.create, CacheKey(high: 0, low: UInt64(number)))
        }
        var dropped = 0
        for number in 0..<200_000 where queue.append(task(number)) { dropped += 1 }
        #expect(queue.count == StoreQueue.capacity)
        #expect(dropped == 200_000 - StoreQueue.capacity)
        let first = queue.takeFirst { _ in true }
        #expect(first == task(200_000 - StoreQueue.capacity))
        #expect(MemoryLayout<StoreTask>.stride == 24)
    }

    @Test func aTaskThatHasToWaitKeepsItsPlace() {
        var queue = StoreQueue()
        let (a, b) = (CacheKey(high: 0, low: 1), CacheKey(high: 0, low: 2))
        let tasks = [StoreTask(.create, a), StoreTask(.delete, a), StoreTask(.create, b)]
        for task in tasks { _ = queue.append(task) }
        let taken = [
            queue.takeFirst { $0.key != a }, queue.takeFirst { _ in true },
            queue.takeFirst { _ in true },
        ]
        #expect(taken == [tasks[2], tasks[0], tasks[1]])
        #expect(queue.isEmpty)
    }

    @Test func theMostUrgentQuestionIsAskedFirst() {
        var lookups = StoreLookups()
        let keys = (0..<4).map { CacheKey(high: 0, low: UInt64($0)) }
        lookups.add(keys[0], .background, for: .daemon)
        lookups.add(keys[1], .normal, for: .daemon)
        lookups.add(keys[2], .visible, for: .daemon)
        lookups.add(keys[3], .normal, for: .daemon)
        lookups.add(keys[0], .visible, for: .daemon)
        lookups.forget(keys[3])
        var taken: [CacheKey?] = []
        for _ in 0..<4 { taken.append(lookups.takeNext(limit: 1)?.key) }
        #expect(taken == [keys[2], keys[0], keys[1], nil])
    }

    @Test func usersTakeTurnsAndNobodyWaitsForAnothersQuestions() {
        var lookups = StoreLookups()
        let (busy, idle) = (UserID(rawValue: 1), UserID(rawValue: 2))
        for number in 0..<40 as Range<UInt64> {
            lookups.add(
                CacheKey(high: 0, low: number), .normal, for: ClientID(rawValue: 1, user: busy))
        }
        var running: UInt64 = 0
        func begin() -> UserID? {
            guard let (_, user) = lookups.takeNext(limit: 16) else { return nil }
            running += 1
            lookups.began(FlightID(rawValue: running), for: user)
            return user
        }
        for _ in 0..<14 { #expect(begin() == busy) }
        #expect(begin() == nil)
        for number in 0..<3 as Range<UInt64> {
            lookups.add(
                CacheKey(high: 1, low: number), .normal, for: ClientID(rawValue: 2, user: idle))
        }
        #expect(begin() == idle)
        #expect(begin() == nil)
        for id in 1...4 as ClosedRange<UInt64> { lookups.ended(FlightID(rawValue: id)) }
        #expect(begin() == idle, "the user with fewer questions comes first")
    }

    @Test func theOldestKeysAreForgotten() {
        var keys = Recent<CacheKey>(capacity: 3)
        for number in 0..<5 { keys.insert(CacheKey(high: 0, low: UInt64(number))) }
        let known = (0..<5).map { keys.contains(CacheKey(high: 0, low: UInt64($0))) }
        #expect(known == [false, false, true, true, true])
    }
}
