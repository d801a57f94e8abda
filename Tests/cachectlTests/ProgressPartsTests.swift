import CacheWire
import Testing

@testable import cachectl

@Suite struct ProgressPartsTests {
    @Test func frameReturnsTheCursorToItsStart() {
        let terminal = TerminalCapabilities(isUnicode: true, colors: .none)
        let lines = ["a", "b"].map { StyledLine($0) }
        #expect(
            InlineDisplay.frame(lines, for: terminal) == "\ra\u{1B}[K\nb\u{1B}[K\n\u{1B}[J\u{1B}[2A"
        )
        #expect(InlineDisplay.frame([], for: terminal) == "\r\u{1B}[J")
        #expect("\(InlineDisplay.erasure)" == "\r\u{1B}[J")
    }

    @Test func rateNeedsTwoSamplesAndIsSmoothed() throws {
        var rate = TransferRate()
        rate.sample(bytes: 0, now: .zero)
        #expect(rate.bytesPerSecond == nil)
        rate.sample(bytes: 1000, now: .seconds(1))
        #expect(rate.bytesPerSecond == 1000)
        rate.sample(bytes: 1000, now: .milliseconds(1500))
        #expect(rate.bytesPerSecond == 1000)
        rate.sample(bytes: 1010, now: .seconds(2))
        let slower = try #require(rate.bytesPerSecond)
        #expect(slower > 500 && slower < 700)
    }

    @Test func twoSamplesAtTheSameMomentCountAsOne() {
        var rate = TransferRate()
        rate.sample(bytes: 0, now: .seconds(1))
        rate.sample(bytes: 1000, now: .seconds(1))
        #expect(rate.bytesPerSecond == nil)
        rate.sample(bytes: 2000, now: .seconds(2))
        #expect(rate.bytesPerSecond == 2000)
    }

    @Test func fallingCountRestartsTheRate() {
        var rate = TransferRate()
        rate.sample(bytes: 0, now: .zero)
        rate.sample(bytes: 1000, now: .seconds(1))
        rate.sample(bytes: 10, now: .seconds(2))
        #expect(rate.bytesPerSecond == nil)
    }

    @Test func rateFallsWithoutReports() {
        var rate = TransferRate()
        rate.sample(bytes: 0, now: .zero)
        rate.sample(bytes: 1000, now: .seconds(1))
        rate.waited(step: 1000, now: .milliseconds(1900))
        #expect(rate.bytesPerSecond == 1000)
        rate.waited(step: 1000, now: .seconds(3))
        #expect(rate.bytesPerSecond == 500)
        rate.waited(step: 1000, now: .seconds(6))
        #expect(rate.bytesPerSecond == 0)
        rate.sample(bytes: 2000, now: .seconds(7))
        #expect(rate.bytesPerSecond.map { $0 > 150 && $0 < 300 } == true)
    }

    @Test func downloadWithoutARateIsNotStalledTooEarly() {
        var rate = TransferRate()
        rate.sample(bytes: 0, now: .zero)
        rate.waited(step: 100_000, now: .seconds(20))
        #expect(rate.bytesPerSecond == nil)
        rate.waited(step: 100_000, now: .seconds(30))
        #expect(rate.bytesPerSecond == 0)
    }

    /// 1 % takes 6.7 seconds.
    @Test func steadyRateStaysSteadyBetweenRareReports() throws {
        let total = 20_000_000
        var download = DownloadProgress(url: "https://a/1")
        for frame in 0..<6000 {
            let now = Duration.milliseconds(100 * frame)
            let received = 3000 * frame
            if received / (total / 100) > download.received / (total / 100) || frame == 0 {
                var item = Item(url: "https://a/1", key: "k", state: .inFlight)
                item.phase = .receiving
                (item.received, item.total) = (received, total)
                download.changed(to: item, now: now)
            }
            download.advanced(to: now)
            guard frame > 134 else { continue }
            let rate = try #require(download.rate.bytesPerSecond)
            #expect(abs(rate - 30_000) < 6000, "after \(now)")
        }
    }

    @Test(arguments: [
        (0, 0, "00:00:00"), (86_399, 0, "23:59:59"), (0, -3600, "23:00:00"),
        (3600, 7200, "03:00:00"),
    ])
    func clockShowsLocalTime(second: Int, offset: Int, text: String) {
        let time = LocalTime(elapsed: .zero, unixSecond: 0, utcOffset: offset)
        #expect(time.clock(unixSecond: second) == text)
    }

    @Test(arguments: [
        (0, "0:00"), (12, "0:12"), (75, "1:15"), (5999, "99:59"), (6000, "1:40 h"),
        (36_000_000, "10000:00 h"),
    ])
    func timeLeftIsMinutesAndSeconds(seconds: Int, text: String) {
        #expect(LocalTime.span(seconds: seconds) == text)
    }
}
