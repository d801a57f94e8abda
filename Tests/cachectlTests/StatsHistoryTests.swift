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

    @Test func thePlotsBeginWithTheMinutesThatTheDaemonRemembers() {
        let now = 1_800_000_000
        // Figures that did not change are not repeated, and a restarted daemon counts from 0.
        let samples = HistorySamples(
            at: [now - 600, now - 540, now - 360, now - 300],
            figures: ["hits": [0, 120, 120, 60], "bytesReceived": [0, 0, 0, 6000]])
        var statsHistory = StatsHistory()
        statsHistory.remember(samples, now: now)
        let hits = [2.0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(statsHistory.hits.values == hits && statsHistory.hits.latest == nil)
        #expect(statsHistory.bytesReceived.values == [0, 0, 0, 0, 100, 0, 0, 0, 0, 0])
        #expect(statsHistory.bytesEvicted.values.isEmpty)
        for second in 1...3 {
            _ = statsHistory.sampled(["hits": .int(50 * second)], now: .seconds(second))
        }
        #expect(statsHistory.hits.values == hits + [50, 50] && statsHistory.hits.latest == 50)
        #expect(statsHistory.hits.minutes == 10)
        // Again after a restart: what is there stays.
        statsHistory.remember(samples, now: now)
        #expect(statsHistory.hits.values.count == 12)
        for second in 4...200 {
            _ = statsHistory.sampled(["hits": .int(50 * second)], now: .seconds(second))
        }
        #expect(statsHistory.hits.values.count == 120 && statsHistory.hits.minutes == 0)
    }

    @Test(arguments: [
        HistorySamples(at: [], figures: [:]), HistorySamples(at: [1], figures: ["hits": []]),
        HistorySamples(at: [.min, .max, 0], figures: ["hits": [.min, .max, .min]]),
    ])
    func samplesOfAnyKindBreakNothing(samples: HistorySamples) {
        var statsHistory = StatsHistory()
        statsHistory.remember(samples, now: 1_800_000_000)
        #expect(statsHistory.hits.values.count <= 120)
        #expect(statsHistory.hits.values.allSatisfy { $0 >= 0 && $0.isFinite })
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
