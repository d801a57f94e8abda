import Testing

@testable import CacheCore

/// What is too slow, by a clock the test moves.
@Suite("Slowness", .timeLimit(.minutes(5)))
struct SlownessTests {
    private let start = ContinuousClock.now

    /// Whether any of the pieces that come every `interval` seconds, with so many bytes, is too little.
    private func ends(_ count: Int, every interval: Double, pausing: Double = 0) -> Bool {
        var slowness = Slowness(span: 30)
        var now = start
        for _ in 0..<100 {
            if slowness.take(count, now: now) { return true }
            now += .seconds(interval)
            if pausing > 0 { slowness.holdBack(now: now) }
            now += .seconds(pausing)
        }
        return false
    }

    @Test func lessThanEnoughEnds() {
        #expect(ends(1000, every: 1))
    }

    @Test func enoughLives() {
        #expect(!ends(1024, every: 1))
    }

    @Test func burstsLive() {
        #expect(!ends(30 << 10, every: 25))
    }

    @Test func pausesDoNotCount() {
        #expect(!ends(1024, every: 1, pausing: 100))
    }

    @Test func whoIsSlowBetweenPausesEnds() {
        #expect(ends(1000, every: 1, pausing: 100))
    }

    @Test func aPauseIsOneHoweverOftenItIsOffered() {
        var slowness = Slowness(span: 30)
        var answers = [slowness.take(1, now: start)]
        slowness.holdBack(now: start + .seconds(29))
        slowness.holdBack(now: start + .seconds(40))
        answers.append(slowness.take(1, now: start + .seconds(50)))
        answers.append(slowness.take(1, now: start + .seconds(51)))
        #expect(answers == [false, false, true])
    }

    @Test func aSpanThatWasGoodIsNoCredit() {
        var slowness = Slowness(span: 30)
        let pieces = [(1 << 20, 0), (1, 30), (1, 60)]
        let answers = pieces.map { slowness.take($0, now: start + .seconds($1)) }
        #expect(answers == [false, false, true])
    }
}
