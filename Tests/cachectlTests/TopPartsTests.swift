import CacheWire
import Testing

@testable import cachectl

@Suite struct ViewportTests {
    @Test func theScreenFollowsTheChosenRow() {
        var rows = Viewport()
        rows.resized(height: 10)
        rows.counted(100)
        rows.choose(by: 12)
        #expect(rows.cursor == 12 && rows.range == 3..<13)
        rows.choose(by: -10)
        #expect(rows.cursor == 2 && rows.range == 2..<12)
        rows.choose(by: .max / 2)
        #expect(rows.cursor == 99 && rows.range == 90..<100)
        rows.choose(by: -.max / 2)
        #expect(rows.cursor == 0 && rows.range == 0..<10)
    }

    @Test func rowsStayWhereTheyAreWhenOthersGo() {
        var rows = Viewport()
        rows.resized(height: 10)
        rows.counted(100)
        rows.scroll(by: 50)
        rows.lost(above: 7)
        rows.counted(93)
        #expect(rows.range == 43..<53)
    }

    @Test func theChosenRowStaysOnTheScreen() {
        var rows = Viewport()
        rows.resized(height: 20)
        rows.counted(100)
        rows.choose(by: 15)
        rows.resized(height: 5)
        #expect(rows.cursor == 15 && rows.range == 11..<16)
        rows.moved(cursor: 40, offset: 12)
        #expect(rows.cursor == 40 && rows.range == 36..<41)
        rows.moved(cursor: 3, offset: 12)
        #expect(rows.cursor == 3 && rows.range == 3..<8)
    }

    @Test func whereNoRowIsChosenTheFirstStays() {
        var rows = Viewport(isChoosing: false)
        rows.resized(height: 20)
        rows.counted(100)
        rows.scroll(by: 90)
        rows.resized(height: 5)
        #expect(rows.range == 80..<85)
    }

    @Test func aListThatShrinksFillsTheScreen() {
        var rows = Viewport()
        rows.resized(height: 10)
        rows.counted(100)
        rows.scroll(by: 90)
        rows.counted(12)
        #expect(rows.range == 2..<12)
        rows.counted(0)
        #expect(rows.range.isEmpty && rows.cursor == 0)
        rows.resized(height: -1)
        #expect(rows.range.isEmpty)
    }
}

@Suite struct DownloadTableTests {
    @Test func whatBeginsStandsBelowAndWhatEndsGoes() {
        var table = DownloadTable()
        let began = table.changed(
            [.flying(1), .flying(2), .flying(3)], removed: [], firstOnScreen: 0)
        #expect(began == .init(began: 3, ended: 0, latest: "https://a/3"))
        let ended = table.changed([.cached(1), .flying(4)], removed: ["3"], firstOnScreen: 2)
        #expect(ended == .init(began: 1, ended: 2, latest: "https://a/3", lostAbove: 1))
        #expect(table.rows.map(\.key) == ["2", "4"])
        #expect(table.runningCount == 2)
    }

    @Test func whatFailedStaysUntilItIsTriedAgain() {
        var table = DownloadTable()
        _ = table.changed([.flying(1), .flying(2)], removed: [], firstOnScreen: 0)
        // A failure is told as an item, and the key as removed.
        let failed = table.changed([.failed(1)], removed: ["1"], firstOnScreen: 0)
        #expect(failed == .init(began: 0, ended: 1, latest: "https://a/1"))
        #expect(table.rows.count == 2 && table.failureCount == 1)
        _ = table.changed([.flying(1)], removed: [], firstOnScreen: 0)
        #expect(table.failureCount == 0 && table.runningCount == 2)
        _ = table.changed([.failed(2)], removed: [], firstOnScreen: 0)
        #expect(table.clearFailures(firstOnScreen: 0) == 0)
        #expect(table.rows.map(\.key) == ["1"])
    }

    @Test func whatIsAtWorkStandsAboveWhatFailedTheNewestFailureFirst() {
        var table = DownloadTable()
        let waiting = (1...5).map { Item.flying($0, .queued) }
        _ = table.changed(waiting + [.flying(6), .flying(7)], removed: [], firstOnScreen: 0)
        _ = table.changed([.failed(6), .flying(1)], removed: ["6"], firstOnScreen: 0)
        _ = table.changed([.failed(2), .failed(7)], removed: ["2", "7"], firstOnScreen: 0)
        #expect(table.rows.map(\.key) == ["1", "7", "2", "6", "3", "4", "5"])
        // Tried again it waits behind the others, and what is looked at stays.
        let change = table.changed([.flying(7, .queued)], removed: [], firstOnScreen: 2)
        #expect(table.rows.map(\.key) == ["1", "2", "6", "7", "3", "4", "5"])
        #expect(change.lostAbove == 1)
    }

    @Test func onlyTheLastFailuresAreKept() {
        var table = DownloadTable()
        let numbers = 1000..<1300
        _ = table.changed(numbers.map { .flying($0) }, removed: [], firstOnScreen: 0)
        _ = table.changed(numbers.map { .failed($0) }, removed: [], firstOnScreen: 0)
        #expect(table.rows.map(\.key) == (1200..<1300).reversed().map(String.init))
        #expect(table.runningCount == 0)
    }

    @Test func whoseTurnHasComeStandsBeforeThoseThatWait() {
        var table = DownloadTable()
        let waiting = (1...4).map { Item.flying($0, .queued) }
        _ = table.changed(waiting, removed: [], firstOnScreen: 0)
        let change = table.changed([.flying(3), .flying(2)], removed: [], firstOnScreen: 0)
        #expect(change == .init())
        #expect(table.rows.map(\.key) == ["2", "3", "1", "4"])
        // Who looks at row 1, as the third, goes on looking at it.
        let later = table.changed([.flying(4)], removed: [], firstOnScreen: 2)
        #expect(table.rows.map(\.key) == ["2", "3", "4", "1"] && later.lostAbove == -1)
    }

    @Test func whatWasNeverUnderWayIsNoRow() {
        var table = DownloadTable()
        let change = table.changed([.cached(1)], removed: ["3"], firstOnScreen: 0)
        #expect(change == .init() && table.rows.isEmpty)
    }

    @Test func whatFailedAtOnceIsARow() {
        var table = DownloadTable()
        let change = table.changed([.failed(2)], removed: ["2"], firstOnScreen: 0)
        #expect(change == .init(began: 1, ended: 1, latest: "https://a/2"))
        #expect(table.failureCount == 1 && table.runningCount == 0)
    }
}

@Suite struct GaugesTests {
    @Test func countersBecomeRates() {
        var gauges = Gauges()
        let news = [(10, 0), (30, 5000), (30, 5000)].enumerated().map { second, counters in
            gauges.sampled(
                ["hits": .int(counters.0), "bytesReceived": .int(counters.1)],
                now: .seconds(1 + second))
        }
        #expect(news == [false, true, false])
        #expect(gauges.hits.values == [20, 0] && gauges.bytesReceived.values == [5000, 0])
        // Nobody looked for a while; and a daemon started anew counts from 0.
        _ = gauges.sampled(["hits": 90], now: .seconds(30))
        _ = gauges.sampled(["hits": 4], now: .seconds(31))
        #expect(gauges.hits.values == [20, 0, 0])
    }

    /// Keys ask at once.
    @Test func whatAKeyAskedForBetweenTwoSamplesMovesNoRate() {
        var gauges = Gauges()
        for (milliseconds, hits) in [
            (1000, 0), (1990, 990), (2000, 1000), (2010, 1010), (3000, 2000),
        ] {
            _ = gauges.sampled(["hits": .int(hits)], now: .milliseconds(milliseconds))
        }
        #expect(gauges.hits.values.map { $0.rounded() } == [1000, 1000])
        #expect(gauges.int("hits") == 2000)
    }
}

extension Item {
    fileprivate static func flying(_ number: Int, _ phase: Phase = .receiving) -> Item {
        var item = item(number, .inFlight)
        item.phase = phase
        return item
    }
    fileprivate static func cached(_ number: Int) -> Item { item(number, .cached) }
    fileprivate static func failed(_ number: Int) -> Item {
        var item = item(number, .missing)
        item.failure = Failure(kind: "http", message: "the origin answered 404")
        return item
    }

    private static func item(_ number: Int, _ state: State) -> Item {
        Item(url: "https://a/\(number)", key: "\(number)", state: state)
    }
}
