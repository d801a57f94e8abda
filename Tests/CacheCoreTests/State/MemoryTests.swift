import CacheKey
import Testing

@testable import CacheCore

@Suite("Failure memory", .timeLimit(.minutes(1)))
struct FailureMemoryTests {
    @Test func keepsTheLatestOfEachKeyUntilForgotten() {
        var memory = FailureMemory()
        memory.record(.http(404), of: Sample.key("a"))
        memory.record(.http(500), of: Sample.key("a"))
        memory.record(.removed, of: Sample.key("b"))
        #expect(memory[Sample.key("a")] == .http(500))
        memory.forget(Sample.key("a"))
        #expect(memory[Sample.key("a")] == nil)
        #expect(memory[Sample.key("b")] == .removed)
    }

    @Test func forgetsTheOldestFirstAndStaysBounded() {
        var memory = FailureMemory()
        let keys = (0..<3 * FailureMemory.capacity).map { Sample.key("\($0)") }
        for key in keys { memory.record(.removed, of: key) }
        let known = keys.filter { memory[$0] != nil }
        #expect(known.count <= FailureMemory.capacity)
        #expect(known.count >= FailureMemory.capacity / 2)
        #expect(known == Array(keys.suffix(known.count)))
    }

    @Test func aForgottenFailureLeavesNoTraceThatLaterForgetsANewOne() {
        var memory = FailureMemory()
        memory.record(.removed, of: Sample.key("a"))
        memory.forget(Sample.key("a"))
        for number in 0..<FailureMemory.capacity - 1 {
            memory.record(.removed, of: Sample.key("\(number)"))
        }
        memory.record(.http(404), of: Sample.key("a"))
        #expect(memory[Sample.key("a")] == .http(404))
        #expect(memory[Sample.key("0")] == .removed)
    }
}

@Suite("Transfer queue", .timeLimit(.minutes(1)))
struct TransferQueueTests {
    @Test func servesByPriorityThenByTurn() {
        var queue = TransferQueue()
        let order: [(String, Priority)] = [
            ("a", .background), ("b", .normal), ("c", .visible), ("d", .normal), ("e", .visible),
        ]
        for (number, (name, priority)) in order.enumerated() {
            queue.append(Sample.key(name), FlightID(rawValue: UInt64(number)), priority)
        }
        let served = (0..<5).compactMap { _ in queue.next { _, _, _ in true } }
        #expect(served == ["c", "e", "b", "d", "a"].map(Sample.key))
        #expect(queue.next { _, _, _ in true } == nil)
    }

    @Test func passesOverWhatIsNotCurrent() {
        var queue = TransferQueue()
        for number in 0..<10 {
            queue.append(Sample.key("\(number)"), FlightID(rawValue: UInt64(number)), .normal)
        }
        #expect(queue.next { _, id, _ in id.rawValue == 7 } == Sample.key("7"))
        #expect(queue.next { _, _, _ in true } == Sample.key("8"))
    }

    @Test func staysInOrderWhileItsHeadIsCutOff() {
        var queue = TransferQueue()
        let keys = (0..<20_000).map { Sample.key("\($0)") }
        var served: [CacheKey] = []
        for (number, key) in keys.enumerated() {
            queue.append(key, FlightID(rawValue: UInt64(number)), .normal)
            if number.isMultiple(of: 2), let next = queue.next(where: { _, _, _ in true }) {
                served.append(next)
            }
        }
        while let next = queue.next(where: { _, _, _ in true }) { served.append(next) }
        #expect(served == keys)
    }
}

@Suite("Examinations", .timeLimit(.minutes(1)))
struct ExaminationsTests {
    let key = Sample.key("a")

    @Test func whatChangedMeanwhileIsNotCurrent() {
        var examinations = Examinations()
        let first = examinations.begin()
        #expect(examinations.isCurrent(key, since: first))
        examinations.note(key)
        #expect(!examinations.isCurrent(key, since: first))
        #expect(examinations.isCurrent(Sample.key("b"), since: first))
        examinations.end()
        let second = examinations.begin()
        #expect(examinations.isCurrent(key, since: second))
    }

    @Test func whatChangedBeforeIsCurrent() {
        var examinations = Examinations()
        examinations.note(key)
        let start = examinations.begin()
        #expect(examinations.isCurrent(key, since: start))
    }

    @Test func aChangeCountsUntilAllWhoLookedAreDone() {
        var examinations = Examinations()
        let first = examinations.begin()
        let second = examinations.begin()
        examinations.note(key)
        // Who begins now sees what is there now, whoever else still looks.
        let third = examinations.begin()
        #expect(examinations.isCurrent(key, since: third))
        examinations.end()
        #expect(!examinations.isCurrent(key, since: first))
        #expect(!examinations.isCurrent(key, since: second))
        examinations.end()
        examinations.end()
        let fourth = examinations.begin()
        #expect(examinations.isCurrent(key, since: fourth))
    }
}
