import CacheKey
import TestSupport
import Testing

@testable import cached

/// Readers at different positions of the change log.
struct ChangeLogTests {
    private func keys(_ numbers: Int...) -> [CacheKey] { numbers.map(key) }

    private func key(_ number: Int) -> CacheKey {
        CacheKey(high: UInt64(number) << 32, low: 0)
    }

    @Test func aReaderReadsEachLaterChangeOnce() throws {
        var log = ChangeLog()
        let start = log.end
        log.append(keys(1, 2, 3))
        let middle = log.end
        log.append(keys(2, 4))
        #expect(log.read(after: start, limit: 10)?.keys == keys(1, 3, 2, 4))
        #expect(log.read(after: middle, limit: 10)?.keys == keys(2, 4))
        let end = try #require(log.read(after: middle, limit: 10)?.cursor)
        #expect(end == log.end)
        #expect(log.read(after: end, limit: 10)?.keys == [])
    }

    @Test func aReaderContinuesAtItsCursor() throws {
        var log = ChangeLog()
        let start = log.end
        log.append(keys(1, 2, 3, 4, 5))
        log.append(keys(2))
        let first = try #require(log.read(after: start, limit: 2))
        #expect(first.keys == keys(1, 3))
        log.append(keys(4))
        let second = try #require(log.read(after: first.cursor, limit: 10))
        #expect(second.keys == keys(5, 2, 4))
    }

    @Test func changesThatAllHaveReadAreForgotten() {
        var log = ChangeLog()
        log.append(keys(1, 2, 3))
        log.forget(upTo: log.end)
        #expect(log.count == 0)
        let behind = log.end
        log.append(keys(1))
        #expect(log.read(after: behind, limit: 10)?.keys == keys(1))
    }

    @Test func aKeyThatChangesOftenIsHeldOnce() {
        var log = ChangeLog()
        let start = log.end
        for _ in 0..<100_000 { log.append(keys(7)) }
        #expect(log.count == 1)
        #expect(log.read(after: start, limit: 10)?.keys == keys(7))
    }

    @Test func aReaderThatIsTooFarBehindGetsNothing() {
        var log = ChangeLog(limit: 100)
        let start = log.end
        for number in 0..<90 { log.append(keys(number)) }
        let later = log.end
        for number in 90..<120 { log.append(keys(number)) }
        #expect(log.count <= 100)
        #expect(log.read(after: start, limit: 10) == nil)
        #expect(log.read(after: later, limit: 100)?.keys == (90..<120).map(key))
    }

    /// Several readers read at random times. Each must read every key that has changed since it read last.
    @Test func noReaderMissesAChange() throws {
        var random = SeededGenerator(seed: testSeed)
        var log = ChangeLog(limit: 300)
        var readers = (0..<5).map { _ in (cursor: log.end, missing: Set<CacheKey>()) }
        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<readers.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0...1:
                let changed = (0..<3).map { _ in key(.random(in: 0..<200, using: &random)) }
                log.append(changed)
                for index in readers.indices { readers[index].missing.formUnion(changed) }
            case 2:
                let limit = Int.random(in: 1..<20, using: &random)
                let (keys, cursor) = try #require(
                    log.read(after: readers[number].cursor, limit: limit))
                #expect(keys.count <= limit && Set(keys).count == keys.count)
                readers[number].cursor = cursor
                readers[number].missing.subtract(keys)
                if cursor == log.end {
                    #expect(readers[number].missing.isEmpty, "seed \(testSeed)")
                }
            default:
                log.forget(upTo: readers.map(\.cursor).min() ?? log.end)
            }
        }
    }
}
