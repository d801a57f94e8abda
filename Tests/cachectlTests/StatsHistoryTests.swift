import CacheWire
import Testing

@testable import cachectl

@Suite struct StatsHistoryTests {
    @Test func countersBecomeRates() {
        var statsHistory = StatsHistory()
        let changes = [(10, 0), (30, 5000), (30, 5000)].enumerated().map { second, counters in
            statsHistory.sampled(
                ["hits": .int(counters.0), "bytesReceived": .int(counters.1)],
                now: .seconds(1 + second))
        }
        #expect(changes == [false, true, false])
        #expect(
            statsHistory.hits.values == [20, 0] && statsHistory.bytesReceived.values == [5000, 0])
        // A long pause without samples, then a restarted daemon, which counts from 0.
        _ = statsHistory.sampled(["hits": 90], now: .seconds(30))
        _ = statsHistory.sampled(["hits": 4], now: .seconds(31))
        #expect(statsHistory.hits.values == [20, 0, 0])
    }

    /// A key requests a sample at once.
    @Test func samplesRequestedByKeysDoNotChangeTheRates() {
        var statsHistory = StatsHistory()
        for (milliseconds, hits) in [
            (1000, 0), (1990, 990), (2000, 1000), (2010, 1010), (3000, 2000),
        ] {
            _ = statsHistory.sampled(["hits": .int(hits)], now: .milliseconds(milliseconds))
        }
        #expect(statsHistory.hits.values.map { $0.rounded() } == [1000, 1000])
        #expect(statsHistory.int("hits") == 2000)
    }
}
