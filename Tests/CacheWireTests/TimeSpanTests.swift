import CacheWire
import Testing

@Suite("Time spans", .timeLimit(.minutes(5)))
struct TimeSpanTests {
    @Test(
        arguments: [
            ("0s", .zero), ("500ms", .milliseconds(500)), ("30s", .seconds(30)),
            ("5min", .seconds(300)), ("24h", .seconds(86_400)), ("90d", .seconds(7_776_000)),
            ("10m", .seconds(600)), ("1d", .seconds(86_400)), ("1.5h", .seconds(5400)),
            ("5", .seconds(5)),
            ("0.3", .milliseconds(300)), ("1S", .seconds(1)),
            ("9223372036854775807ms", .milliseconds(Int64.max)),
        ] as [(String, Duration)])
    func aNumberWithAUnitIsATime(text: String, duration: Duration) {
        #expect(TimeSpan(text)?.duration == duration)
    }

    @Test(arguments: [
        "", "s", "ms", "-1s", "+1s", " 1s", "1 s", "1.s", ".5s", "1us", "1w", "1mins",
        "9223372036854775808ms", "9223372036854775807s", "٣s",
    ])
    func anyOtherTextIsRefused(text: String) {
        #expect(TimeSpan(text) == nil)
    }

    @Test func theTextOfATimeReadsBack() throws {
        let span = try #require(TimeSpan("5min"))
        #expect(TimeSpan(span.description) == span)
    }
}
