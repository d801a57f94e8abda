import Testing

@testable import cachectl

@Suite struct ProgressPartsTests {
    @Test func aFrameReturnsToWhereItStarted() {
        let screen = ProgressScreen()
        #expect(screen.frame(["a", "b"]) == "\ra\u{1B}[K\nb\u{1B}[K\n\u{1B}[J\u{1B}[2A")
        #expect(screen.frame([]) == "\r\u{1B}[J")
        #expect("\(ProgressScreen.erase)" == "\r\u{1B}[J")
    }

    @Test func theRateNeedsTwoSamplesAndFollowsSlowly() throws {
        var rate = TransferRate()
        rate.sample(bytes: 0, now: .zero)
        #expect(rate.bytesPerSecond == nil)
        rate.sample(bytes: 1000, now: .seconds(1))
        #expect(rate.bytesPerSecond == 1000)
        rate.sample(bytes: 1000, now: .seconds(2))
        let stalled = try #require(rate.bytesPerSecond)
        #expect(stalled > 500 && stalled < 700)
    }

    @Test func twoSamplesAtOnceAreOne() {
        var rate = TransferRate()
        rate.sample(bytes: 0, now: .seconds(1))
        rate.sample(bytes: 1000, now: .seconds(1))
        #expect(rate.bytesPerSecond == nil)
        rate.sample(bytes: 2000, now: .seconds(2))
        #expect(rate.bytesPerSecond == 2000)
    }

    @Test func aCountThatFallsStartsAgain() {
        var rate = TransferRate()
        rate.sample(bytes: 0, now: .zero)
        rate.sample(bytes: 1000, now: .seconds(1))
        rate.sample(bytes: 10, now: .seconds(2))
        #expect(rate.bytesPerSecond == nil)
    }

    @Test(arguments: [
        (0, "0:00"), (12, "0:12"), (75, "1:15"), (5999, "99:59"), (6000, "1:40 h"),
        (36_000_000, "10000:00 h"),
    ])
    func timeLeftIsAClock(seconds: Int, text: String) {
        #expect(ProgressRenderer.clock(seconds) == text)
    }
}
