import CacheWire
import Testing

@testable import cachectl

@Suite struct DownloadTableTests {
    @Test func newDownloadsAreAppendedAndEndedOnesRemoved() {
        var table = DownloadTable()
        let began = table.changed(
            [.inFlight(1), .inFlight(2), .inFlight(3)], removed: [])
        #expect(began == .init(began: 3, ended: 0, latest: "https://a/3"))
        let ended = table.changed([.cached(1), .inFlight(4)], removed: ["3"])
        #expect(ended == .init(began: 1, ended: 2, latest: "https://a/3"))
        #expect(table.rows.map(\.key) == ["2", "4"])
        #expect(table.runningCount == 2)
    }

    @Test func failureStaysUntilTheRetry() {
        var table = DownloadTable()
        _ = table.changed([.inFlight(1), .inFlight(2)], removed: [])
        // A failure is reported both as an item and as a removed key.
        let failed = table.changed([.failed(1)], removed: ["1"])
        #expect(failed == .init(began: 0, ended: 1, latest: "https://a/1"))
        #expect(table.rows.count == 2 && table.failureCount == 1)
        _ = table.changed([.inFlight(1)], removed: [])
        #expect(table.failureCount == 0 && table.runningCount == 2)
        _ = table.changed([.failed(2)], removed: [])
        table.clearFailures(["1"])
        #expect(table.failureCount == 1)
        table.clearFailures()
        #expect(table.rows.map(\.key) == ["1"])
    }

    @Test func runningDownloadsPrecedeFailuresWithTheNewestFirst() {
        var table = DownloadTable()
        let waiting = (1...5).map { Item.inFlight($0, .queued) }
        _ = table.changed(waiting + [.inFlight(6), .inFlight(7)], removed: [])
        _ = table.changed([.failed(6), .inFlight(1)], removed: ["6"])
        _ = table.changed([.failed(2), .failed(7)], removed: ["2", "7"])
        #expect(table.rows.map(\.key) == ["1", "7", "2", "6", "3", "4", "5"])
        // The retried download is queued behind the others.
        _ = table.changed([.inFlight(7, .queued)], removed: [])
        #expect(table.rows.map(\.key) == ["1", "2", "6", "7", "3", "4", "5"])
    }

    @Test func onlyTheNewestFailuresAreKept() {
        var table = DownloadTable()
        let numbers = 1000..<1300
        _ = table.changed(numbers.map { .inFlight($0) }, removed: [])
        _ = table.changed(numbers.map { .failed($0) }, removed: [])
        #expect(table.rows.map(\.key) == (1200..<1300).reversed().map(String.init))
        #expect(table.runningCount == 0)
    }

    @Test func startedDownloadsPrecedeQueuedOnes() {
        var table = DownloadTable()
        let waiting = (1...4).map { Item.inFlight($0, .queued) }
        _ = table.changed(waiting, removed: [])
        let change = table.changed([.inFlight(3), .inFlight(2)], removed: [])
        #expect(change == .init())
        #expect(table.rows.map(\.key) == ["2", "3", "1", "4"])
        _ = table.changed([.inFlight(4)], removed: [])
        #expect(table.rows.map(\.key) == ["2", "3", "4", "1"])
    }

    @Test func cachedImageWithoutADownloadIsNotARow() {
        var table = DownloadTable()
        let change = table.changed([.cached(1)], removed: ["3"])
        #expect(change == .init() && table.rows.isEmpty)
    }

    @Test func immediateFailureIsARow() {
        var table = DownloadTable()
        let change = table.changed([.failed(2)], removed: ["2"])
        #expect(change == .init(began: 1, ended: 1, latest: "https://a/2"))
        #expect(table.failureCount == 1 && table.runningCount == 0)
    }
}

extension Item {
    fileprivate static func inFlight(_ number: Int, _ phase: Phase = .receiving) -> Item {
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
