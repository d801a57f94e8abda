import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// The rate limit of all downloads together, with a clock that the test moves.
@Suite("Rate limiter", .timeLimit(.minutes(5)))
struct RateLimiterTests {
    private let start = ContinuousClock.now
    private let ids = (0..<4).map { FlightID(rawValue: $0) }

    private func flow(
        _ priority: CacheFetching.Priority = .normal, client: UInt64 = 0, user: UInt32 = 1001
    ) -> FlowKey {
        FlowKey(
            priority: priority,
            client: ClientID(rawValue: client, user: UserID(rawValue: user)),
            origin: Origin(Sample.url("a")))
    }

    /// The next download that may continue, if no flow changed.
    private func next(_ limiter: RateLimiter, _ now: ContinuousClock.Instant) -> FlightID? {
        limiter.next(flow: { _ in nil }, now: now)
    }

    @Test func withoutARateNoDownloadWaits() {
        let limiter = RateLimiter(rate: nil, now: start)
        for _ in 0..<1000 {
            #expect(limiter.admits(1 << 20, of: ids[0], in: flow(), now: start))
        }
        #expect(limiter.delay(now: start) == nil)
    }

    @Test func aDebtIsPaidBack() {
        let limiter = RateLimiter(rate: 1000, now: start)
        #expect(limiter.admits(1100, of: ids[0], in: flow(), now: start))
        #expect(!limiter.admits(1, of: ids[1], in: flow(), now: start))
        #expect(next(limiter, start) == nil)
        let delay = limiter.delay(now: start) ?? .zero
        #expect(delay > .milliseconds(1000) && delay < .milliseconds(1002))
        #expect(next(limiter, start + delay) == ids[1])
        #expect(limiter.delay(now: start + delay) == nil)
    }

    @Test func pausedDownloadsContinueInTurn() {
        let limiter = RateLimiter(rate: 1000, now: start)
        #expect(limiter.admits(100, of: ids[0], in: flow(), now: start))
        for id in ids[1...] { #expect(!limiter.admits(1, of: id, in: flow(), now: start)) }
        limiter.forget(ids[2])
        let later = start + .milliseconds(50)
        #expect(next(limiter, later) == ids[1])
        #expect(next(limiter, later) == ids[3])
        #expect(next(limiter, later) == nil)
    }

    @Test func theMostUrgentDownloadContinuesFirst() {
        let limiter = RateLimiter(rate: 1000, now: start)
        #expect(limiter.admits(100, of: ids[0], in: flow(), now: start))
        #expect(!limiter.admits(1, of: ids[1], in: flow(.background), now: start))
        #expect(!limiter.admits(1, of: ids[2], in: flow(.normal), now: start))
        #expect(!limiter.admits(1, of: ids[3], in: flow(.visible), now: start))
        let later = start + .milliseconds(50)
        // A download that is not paused waits behind the paused ones, too.
        #expect(!limiter.admits(1, of: ids[0], in: flow(.normal), now: later))
        let order: [(Int, CacheFetching.Priority)] = [
            (3, .visible), (2, .normal), (0, .normal), (1, .background),
        ]
        for (id, priority) in order {
            #expect(next(limiter, later) == ids[id])
            #expect(limiter.admits(1, of: ids[id], in: flow(priority), now: later))
        }
        #expect(limiter.admits(1, of: ids[1], in: flow(.background), now: later))
    }

    @Test func aPausedDownloadThatBecomesMoreUrgentContinuesFirst() {
        let limiter = RateLimiter(rate: 1000, now: start)
        #expect(limiter.admits(100, of: ids[0], in: flow(), now: start))
        #expect(!limiter.admits(1, of: ids[1], in: flow(), now: start))
        #expect(!limiter.admits(1, of: ids[2], in: flow(.background), now: start))
        let visible = flow(.visible)
        let id = limiter.next(
            flow: { $0 == ids[2] ? visible : nil }, now: start + .milliseconds(50))
        #expect(id == ids[2])
    }

    @Test func clientsTakeTurns() {
        let limiter = RateLimiter(rate: 1000, now: start)
        #expect(limiter.admits(100, of: ids[0], in: flow(), now: start))
        for id in ids[..<3] {
            #expect(!limiter.admits(1, of: id, in: flow(client: 1), now: start))
        }
        #expect(!limiter.admits(1, of: ids[3], in: flow(client: 2), now: start))
        let later = start + .milliseconds(50)
        let order = (0..<4).map { _ in next(limiter, later) }
        #expect(order == [ids[0], ids[3], ids[1], ids[2]])
    }

    /// Neither more connections nor a higher priority gives a user a larger share.
    @Test func usersTakeTurns() {
        let limiter = RateLimiter(rate: 1000, now: start)
        #expect(limiter.admits(100, of: ids[0], in: flow(), now: start))
        for (client, id) in ids[..<3].enumerated() {
            let flow = flow(.visible, client: UInt64(client), user: 1)
            #expect(!limiter.admits(1, of: id, in: flow, now: start))
        }
        #expect(!limiter.admits(1, of: ids[3], in: flow(client: 9, user: 2), now: start))
        let later = start + .milliseconds(50)
        let order = (0..<4).map { _ in next(limiter, later) }
        #expect(order == [ids[0], ids[3], ids[1], ids[2]])
    }

    /// libcurl measures slowness only between pauses, so a slow download must not be paused.
    @Test func aDownloadSlowerThanTheStallLimitIsNotPaused() {
        let limiter = RateLimiter(rate: 10_000, now: start)
        let (slow, fast) = (ids[0], ids[1])
        func takes(_ count: Int, _ id: FlightID, after seconds: Int) -> Bool {
            limiter.admits(count, of: id, in: flow(), now: start + .seconds(seconds))
        }
        #expect(takes(1000, slow, after: 0))
        #expect(takes(100_000, fast, after: 1))
        #expect(!takes(1, fast, after: 2))
        // 1 KiB/s since its first piece.
        #expect(takes(1040, slow, after: 2))
        #expect(!takes(1040, slow, after: 2))
        // The pause is not counted.
        #expect(next(limiter, start + .seconds(20)) == fast)
        #expect(takes(100_000, fast, after: 20))
        #expect(!takes(1, slow, after: 20))
        #expect(next(limiter, start + .seconds(40)) == slow)
        #expect(takes(1, slow, after: 40))
        #expect(takes(100_000, fast, after: 40))
        #expect(!takes(1040, slow, after: 41))
    }

    @Test(arguments: [UInt64](1...4))
    func theRateIsKeptWhateverTheSizeOfPieces(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limiter = RateLimiter(rate: 100_000, now: start)
        var now = start
        var taken = 0
        while now < start + .seconds(60) {
            let count = Int.random(in: 1...65_536, using: &random)
            if limiter.admits(count, of: ids[0], in: flow(), now: now) {
                taken += count
            } else {
                now += max(limiter.delay(now: now) ?? .zero, .milliseconds(1))
                _ = next(limiter, now)
            }
        }
        #expect((5_800_000...6_100_000).contains(taken), "\(taken) bytes in a minute")
    }
}
