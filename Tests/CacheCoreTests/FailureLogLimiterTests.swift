import Testing

@testable import CacheCore

@Suite struct FailureLogLimiterTests {
    private let start = ContinuousClock.now

    @Test func aHostGetsAFewLinesAMinute() {
        var limiter = FailureLogLimiter()
        let admitted = (0..<12).map { _ in limiter.admits("http://a", now: start) }
        #expect(admitted == Array(repeating: true, count: 5) + Array(repeating: false, count: 7))
        // Another host is not affected.
        let isOtherAdmitted = limiter.admits("http://b", now: start)
        #expect(isOtherAdmitted)
        let early = limiter.takeLeftOut(now: start + .seconds(59))
        #expect(early.isEmpty)
        let leftOut = limiter.takeLeftOut(now: start + .seconds(60))
        #expect(leftOut.map(\.host) == ["http://a"])
        #expect(leftOut.map(\.count) == [7])
        let isAdmittedAgain = limiter.admits("http://a", now: start + .seconds(60))
        #expect(isAdmittedAgain)
    }

    @Test func theEndReportsWhatWasLeftOut() {
        var limiter = FailureLogLimiter()
        for _ in 0..<6 { _ = limiter.admits("http://a", now: start) }
        let rest = limiter.takeLeftOut(now: nil)
        #expect(rest.map(\.count) == [1])
        let nothing = limiter.takeLeftOut(now: nil)
        #expect(nothing.isEmpty)
    }

    @Test func manyHostsShareTheRest() {
        var limiter = FailureLogLimiter()
        let count = FailureLogLimiter.largestTable
        let first = (0..<count).filter { limiter.admits("http://\($0)", now: start) }
        #expect(first.count == count)
        let more = (0..<20).filter { limiter.admits("http://more-\($0)", now: start) }
        #expect(more.count == 5)
        let leftOut = limiter.takeLeftOut(now: start + .seconds(60))
        #expect(leftOut.map(\.host) == [FailureLogLimiter.others])
    }
}
