import TestSupport
import Testing

@testable import CacheCore

/// Bytes a second for all downloads together, by a clock the test moves.
@Suite("Transfer pace", .timeLimit(.minutes(5)))
struct RateLimiterTests {
    private let start = ContinuousClock.now
    private let ids = (0..<4).map { FlightID(rawValue: $0) }

    private func lane(
        _ priority: CacheCore.Priority = .normal, client: UInt64 = 0
    ) -> TransferQueue.FlowKey {
        TransferQueue.FlowKey(
            priority: priority, client: ClientID(rawValue: client), origin: Origin(Sample.url("a")))
    }

    /// The next, where nobody has become more urgent.
    private func next(_ pace: RateLimiter, _ now: ContinuousClock.Instant) -> FlightID? {
        pace.next(lane: { _ in nil }, now: now)
    }

    @Test func withoutARateNobodyWaits() {
        let pace = RateLimiter(rate: nil, now: start)
        for _ in 0..<1000 { #expect(pace.admits(1 << 20, of: ids[0], in: lane(), now: start)) }
        #expect(pace.delay(now: start) == nil)
    }

    @Test func whatIsTakenInAdvanceIsPaidBack() {
        let pace = RateLimiter(rate: 1000, now: start)
        #expect(pace.admits(1100, of: ids[0], in: lane(), now: start))
        #expect(!pace.admits(1, of: ids[1], in: lane(), now: start))
        #expect(next(pace, start) == nil)
        let delay = pace.delay(now: start) ?? .zero
        #expect(delay > .milliseconds(1000) && delay < .milliseconds(1002))
        #expect(next(pace, start + delay) == ids[1])
        #expect(pace.delay(now: start + delay) == nil)
    }

    @Test func whoWaitsGoesOnInTurn() {
        let pace = RateLimiter(rate: 1000, now: start)
        #expect(pace.admits(100, of: ids[0], in: lane(), now: start))
        for id in ids[1...] { #expect(!pace.admits(1, of: id, in: lane(), now: start)) }
        pace.forget(ids[2])
        let later = start + .milliseconds(50)
        #expect(next(pace, later) == ids[1])
        #expect(next(pace, later) == ids[3])
        #expect(next(pace, later) == nil)
    }

    @Test func theMostUrgentGoesFirstAndNobodyBeforeIt() {
        let pace = RateLimiter(rate: 1000, now: start)
        #expect(pace.admits(100, of: ids[0], in: lane(), now: start))
        #expect(!pace.admits(1, of: ids[1], in: lane(.background), now: start))
        #expect(!pace.admits(1, of: ids[2], in: lane(.normal), now: start))
        #expect(!pace.admits(1, of: ids[3], in: lane(.visible), now: start))
        let later = start + .milliseconds(50)
        // What has not waited yet stands back, too.
        #expect(!pace.admits(1, of: ids[0], in: lane(.normal), now: later))
        let order: [(Int, CacheCore.Priority)] = [
            (3, .visible), (2, .normal), (0, .normal), (1, .background),
        ]
        for (id, priority) in order {
            #expect(next(pace, later) == ids[id])
            #expect(pace.admits(1, of: ids[id], in: lane(priority), now: later))
        }
        #expect(pace.admits(1, of: ids[1], in: lane(.background), now: later))
    }

    @Test func whoBecomesMoreUrgentWhileItWaitsGoesFirst() {
        let pace = RateLimiter(rate: 1000, now: start)
        #expect(pace.admits(100, of: ids[0], in: lane(), now: start))
        #expect(!pace.admits(1, of: ids[1], in: lane(), now: start))
        #expect(!pace.admits(1, of: ids[2], in: lane(.background), now: start))
        let visible = lane(.visible)
        let id = pace.next(
            lane: { $0 == ids[2] ? visible : nil }, now: start + .milliseconds(50))
        #expect(id == ids[2])
    }

    @Test func clientsTakeTurns() {
        let pace = RateLimiter(rate: 1000, now: start)
        #expect(pace.admits(100, of: ids[0], in: lane(), now: start))
        for id in ids[..<3] { #expect(!pace.admits(1, of: id, in: lane(client: 1), now: start)) }
        #expect(!pace.admits(1, of: ids[3], in: lane(client: 2), now: start))
        let later = start + .milliseconds(50)
        let order = (0..<4).map { _ in next(pace, later) }
        #expect(order == [ids[0], ids[3], ids[1], ids[2]])
    }

    @Test(arguments: [UInt64](1...4))
    func theRateIsKeptWhateverTheSizeOfPieces(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pace = RateLimiter(rate: 100_000, now: start)
        var now = start
        var taken = 0
        while now < start + .seconds(60) {
            let count = Int.random(in: 1...65_536, using: &random)
            if pace.admits(count, of: ids[0], in: lane(), now: now) {
                taken += count
            } else {
                now += max(pace.delay(now: now) ?? .zero, .milliseconds(1))
                _ = next(pace, now)
            }
        }
        #expect((5_800_000...6_100_000).contains(taken), "\(taken) bytes in a minute")
    }
}
