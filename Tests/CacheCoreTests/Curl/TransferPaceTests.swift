import TestSupport
import Testing

@testable import CacheCore

/// Bytes a second for all downloads together, by a clock the test moves.
@Suite("Transfer pace", .timeLimit(.minutes(5)))
struct TransferPaceTests {
    private let start = ContinuousClock.now
    private let ids = (0..<4).map { FlightID(rawValue: $0) }

    @Test func withoutARateNobodyWaits() {
        let pace = TransferPace(rate: nil, now: start)
        for _ in 0..<1000 { #expect(pace.admits(1 << 20, of: ids[0], now: start)) }
        #expect(pace.delay(now: start) == nil)
    }

    @Test func whatIsTakenInAdvanceIsPaidBack() {
        let pace = TransferPace(rate: 1000, now: start)
        #expect(pace.admits(1100, of: ids[0], now: start))
        #expect(!pace.admits(1, of: ids[1], now: start))
        #expect(pace.next(now: start) == nil)
        let delay = pace.delay(now: start) ?? .zero
        #expect(delay > .milliseconds(1000) && delay < .milliseconds(1002))
        #expect(pace.next(now: start + delay) == ids[1])
        #expect(pace.delay(now: start + delay) == nil)
    }

    @Test func whoWaitsGoesOnInTurn() {
        let pace = TransferPace(rate: 1000, now: start)
        #expect(pace.admits(100, of: ids[0], now: start))
        for id in ids[1...] { #expect(!pace.admits(1, of: id, now: start)) }
        pace.forget(ids[2])
        let later = start + .milliseconds(50)
        #expect(pace.next(now: later) == ids[1])
        #expect(pace.next(now: later) == ids[3])
        #expect(pace.next(now: later) == nil)
    }

    @Test(arguments: [UInt64](1...4))
    func theRateIsKeptWhateverTheSizeOfPieces(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pace = TransferPace(rate: 100_000, now: start)
        var now = start
        var taken = 0
        while now < start + .seconds(60) {
            let count = Int.random(in: 1...65_536, using: &random)
            if pace.admits(count, of: ids[0], now: now) {
                taken += count
            } else {
                now += max(pace.delay(now: now) ?? .zero, .milliseconds(1))
                _ = pace.next(now: now)
            }
        }
        #expect((5_800_000...6_100_000).contains(taken), "\(taken) bytes in a minute")
    }
}
