import Testing

@testable import CacheCore

/// What is too slow, by a clock the test moves.
@Suite("Slowness", .timeLimit(.minutes(5)))
struct SlownessTests {
    private let start = ContinuousClock.now
    private var slowness = Slowness(span: 30)

    /// Whether any of the pieces that come every `interval` seconds, with so many bytes, is too little.
    private mutating func ends(_ count: Int, every interval: Double, pausing: Double = 0) -> Bool {
        var now = start
        for _ in 0..<100 {
            if slowness.take(count, now: now) { return true }
            now += .seconds(interval)
            if pausing > 0 { slowness.holdBack(now: now) }
            now += .seconds(pausing)
        }
        return false
    }

    @Test mutating func lessThanEnoughEnds() {
        #expect(ends(1000, every: 1))
    }

    @Test mutating func enoughLives() {
        #expect(!ends(1024, every: 1))
    }

    @Test mutating func burstsLive() {
        #expect(!ends(30 << 10, every: 25))
    }

    @Test mutating func pausesDoNotCount() {
        #expect(!ends(1024, every: 1, pausing: 100))
    }

    @Test mutating func whoIsSlowBetweenPausesEnds() {
        #expect(ends(1000, every: 1, pausing: 100))
    }

    @Test mutating func aPauseIsOneHoweverOftenItIsOffered() {
        #expect(!slowness.take(1, now: start))
        slowness.holdBack(now: start + .seconds(29))
        slowness.holdBack(now: start + .seconds(40))
        #expect(!slowness.take(1, now: start + .seconds(50)))
        #expect(slowness.take(1, now: start + .seconds(51)))
    }

    @Test mutating func aSpanThatWasGoodIsNoCredit() {
        #expect(!slowness.take(1 << 20, now: start))
        #expect(!slowness.take(1, now: start + .seconds(30)))
        #expect(slowness.take(1, now: start + .seconds(60)))
    }
}
