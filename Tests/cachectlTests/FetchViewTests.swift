import CacheWire
import Testing

@testable import cachectl

@Suite struct FetchViewTests {
    private let ascii = TerminalCapabilities(isUnicode: false, colors: .none)
    private let unicode = TerminalCapabilities(isUnicode: true, colors: .none)
    private let a = "https://example.com/a.png"

    @Test func knownTotalShowsPercentRateAndTimeLeft() {
        var progress = FetchProgress(urls: [a])
        progress.replied([.receiving("a.png", 210_000, of: 1_000_000)], now: .zero)
        progress.replied([.receiving("a.png", 420_000, of: 1_000_000)], now: .seconds(1))
        #expect(
            lines(progress, ascii, at: .seconds(1)) == [
                "- 42 % ##---- 210 kB/s   0:03 example.com/a.png"
            ])
        #expect(
            lines(progress, unicode, at: .seconds(1)) == [
                "◔ 42 % ██▌░░░ 210 kB/s   0:03 example.com/a.png"
            ])
    }

    @Test func unknownTotalShowsATurningRing() {
        var progress = FetchProgress(urls: [a])
        progress.replied([.receiving("a.png", 420_000, of: nil)], now: .zero)
        let rings = [0, 1, 2, 3, 4].map {
            lines(progress, ascii, at: .milliseconds(250 * $0))[0].first
        }
        #expect(rings == ["|", "/", "-", "\\", "|"])
        #expect(!lines(progress, ascii, at: .zero)[0].contains("%"))
    }

    @Test func phaseIsShownWhileNoBytesArrive() {
        var progress = FetchProgress(urls: [a])
        for phase in [Item.Phase.queued, .connecting, .retrying, .deriving] {
            var item = Item.receiving("a.png", 0, of: nil)
            item.phase = phase
            progress.replied([item], now: .zero)
            #expect(lines(progress, ascii, at: .zero)[0].contains(phase.rawValue.prefix(5)))
        }
    }

    @Test func refreshIsDrawnLikeADownload() {
        var progress = FetchProgress(urls: [a])
        var item = Item.receiving("a.png", 420_000, of: 1_000_000)
        item.state = .cached
        progress.replied([item], now: .zero)
        #expect(lines(progress, ascii, at: .zero)[0].contains("42 %"))
        (item.phase, item.received, item.total) = (nil, nil, nil)
        progress.replied([item], now: .zero)
        #expect(lines(progress, ascii, at: .zero).isEmpty)
    }

    @Test func aDownloadWhoseHostIsPausedShowsReasonAndTime() {
        var progress = FetchProgress(urls: [a])
        var item = Item.receiving("a.png", 0, of: nil)
        item.phase = .queued
        item.failure = Failure(kind: "http", message: "too many", httpStatus: 429, retryAt: 1007)
        progress.replied([item], now: .zero)
        let line = lines(progress, ascii, at: .zero)[0]
        #expect(line.contains("retry in 7 s"), "\(line)")
        item.failure = Failure(kind: "http", message: "too many", httpStatus: 429, retryAt: 999)
        progress.replied([item], now: .zero)
        #expect(lines(progress, ascii, at: .zero)[0].contains("queued"))
    }

    @Test func retryLineShowsReasonAndTime() {
        var progress = FetchProgress(urls: [a])
        var item = Item.receiving("a.png", 0, of: nil)
        item.phase = .retrying
        item.failure = Failure(kind: "transport", message: "connection refused", retryAt: 1007)
        progress.replied([item], now: .zero)
        #expect(
            lines(progress, unicode, at: .zero) == [
                "◍ connection refused, retry in 7 s"
                    + String(repeating: " ", count: 27) + "example.com/a.png"
            ])
    }

    @Test(arguments: [
        (100, "connection refused by a.example.com, retry in 7 s"),
        (79, "connection refused by a.example.com, retry 7 s"),
        (60, "connection refused by …, retry 7 s"), (40, "connection…, retry 7 s"),
        (20, "connectio…"),
    ])
    func retryLineKeepsItsTimeWhileThereIsRoom(columns: Int, text: String) {
        var download = DownloadProgress(url: a)
        var item = Item.receiving("a.png", 0, of: nil)
        item.phase = .retrying
        item.failure = Failure(
            kind: "transport", message: "connection refused by a.example.com", retryAt: 1007)
        download.changed(to: item, now: .zero)
        #expect(summary(download, columns) == text)
    }

    @Test(arguments: [
        (100, 1061, "the origin answered 404 Not Found, retry from 00:17:41"),
        (60, 1061, "HTTP 404, retry 00:17"), (40, 1061, "HTTP 404, retry 00:17"),
        (24, 1061, "HTTP 404"),
        (100, 1000, "the origin answered 404 Not Found, can be retried"),
        (40, 999, "HTTP 404, can retry"),
    ])
    func failureShowsTheTimeOfTheNextRetry(columns: Int, second: Int, text: String) {
        let failure = Failure(
            kind: "http", message: "the origin answered 404 Not Found", httpStatus: 404,
            retryAt: second)
        let download = DownloadProgress(
            Item(url: a, key: "", state: .missing, failure: failure))
        #expect(summary(download, columns) == text)
    }

    /// The text between the mark and the URL.
    private func summary(_ download: DownloadProgress, _ columns: Int) -> String {
        let time = LocalTime(elapsed: .zero, unixSecond: 1000, utcOffset: 0)
        let text = DownloadLine(terminal: unicode, columns: columns, time: time).line(download).text
        #expect(text.columns <= columns)
        let parts = text.dropFirst(columns < 120 ? 2 : 3).split(separator: " ")
        return parts.dropLast().joined(separator: " ")
    }

    @Test func cachedAndMissingImagesAreNotDrawn() {
        var progress = FetchProgress(urls: [a])
        #expect(lines(progress, ascii, at: .zero).isEmpty)
        progress.replied([.receiving("a.png", 1, of: 2)], now: .zero)
        #expect(lines(progress, ascii, at: .zero).count == 1)
        progress.replied([Item(url: a, key: "", state: .cached)], now: .zero)
        #expect(lines(progress, ascii, at: .zero).isEmpty)
        progress.replied([.receiving("a.png", 1, of: 2)], now: .zero)
        progress.replied([Item(url: a, key: "", state: .missing)], now: .zero)
        #expect(lines(progress, ascii, at: .zero).isEmpty)
    }

    @Test func manyDownloadsShowTheTotalAndTheRunningOnes() {
        let names = (0..<300).map { "\($0).png" }
        var progress = FetchProgress(urls: names.map { "https://example.com/\($0)" })
        var items = names.map { Item.receiving($0, 1, of: 2) }
        for index in 4..<300 {
            items[index].phase = .queued
            items[index].received = 0
        }
        for index in 0..<2 { items[index] = Item(url: items[index].url, key: "", state: .cached) }
        progress.replied(items, now: .zero)
        let drawn = lines(progress, ascii, at: .zero)
        #expect(drawn.count == 7)
        #expect(drawn[0].hasPrefix(". 2/300 -"))
        #expect(drawn[1].hasSuffix("example.com/2.png") && drawn[2].hasSuffix("example.com/3.png"))
        #expect(drawn[3].hasSuffix("example.com/4.png"))
    }

    @Test func failuresAreCountedApart() {
        var progress = FetchProgress(urls: ["a", "b", "c"].map { "https://example.com/\($0).png" })
        var failed = Item(url: "https://example.com/a.png", key: "", state: .missing)
        failed.failure = Failure(kind: "http", message: "the origin answered 404")
        progress.replied([failed, .receiving("b.png", 1, of: 2)], now: .zero)
        #expect(lines(progress, ascii, at: .zero)[0].hasPrefix("o 1/3, 1 failed "))
    }

    @Test func eachFailureIsNamedOnceAsItHappens() {
        func item(_ state: Item.State, _ failure: String? = nil) -> Item {
            var item = Item(url: a, key: "", state: state)
            item.failure = failure.map { Failure(kind: "http", message: $0) }
            return item
        }
        let report = FailureReport(mayBeInFlight: false)
        // The failure of an earlier fetch.
        #expect(report.lines([item(.missing, "404")], isLast: false).isEmpty)
        #expect(report.lines([item(.inFlight, "503")], isLast: false).isEmpty)
        #expect(report.lines([item(.missing, "410")], isLast: false).map(\.text) == ["410"])
        #expect(report.lines([item(.missing, "410")], isLast: true).isEmpty)
        let other = FailureReport(mayBeInFlight: false)
        #expect(
            other.lines([item(.missing)], isLast: true).map(\.text) == ["it was not downloaded"])
        #expect(other.lines([item(.cached)], isLast: true).isEmpty)
        let starting = FailureReport(mayBeInFlight: true)
        var begun = item(.inFlight, "503")
        begun.phase = .queued
        #expect(starting.lines([begun], isLast: true).isEmpty)
    }

    @Test func rateAndTimeLeftOfAllAreShown() {
        let names = (0..<4).map { "\($0).png" }
        var progress = FetchProgress(urls: names.map { "https://example.com/\($0)" })
        for second in 0...2 {
            progress.replied(
                names.map { .receiving($0, 100_000 * second, of: 1_000_000) },
                now: .seconds(second))
        }
        let line = lines(progress, ascii, at: .seconds(2))[0]
        #expect(line.contains(" 400 kB/s  0:08 left "), "\(line)")
    }

    @Test func labelIsTheNewestAtAReadablePace() {
        let names = (0..<9).map { "\($0).png" }
        var progress = FetchProgress(urls: names.map { "https://example.com/\($0)" })
        for (index, name) in names.enumerated() {
            progress.replied([.receiving(name, 1, of: 2)], now: .milliseconds(index))
        }
        #expect(progress.overall.label == "https://example.com/0.png")
        progress.advanced(to: .milliseconds(250))
        #expect(progress.overall.label == "https://example.com/8.png")
    }

    @Test func lowTerminalShowsFewerLines() {
        let names = (0..<10).map { "\($0).png" }
        var progress = FetchProgress(urls: names.map { "https://example.com/\($0)" })
        progress.replied(names.map { .receiving($0, 1, of: 2) }, now: .zero)
        #expect(lines(progress, ascii, at: .zero, height: 5).count == 4)
        #expect(lines(progress, ascii, at: .zero, height: 1).count == 1)
    }

    @Test(arguments: 1...140)
    func everyLineIsShorterThanTheTerminal(columns: Int) {
        let url = "https://example.com/画像/" + String(repeating: "path/", count: 30) + "🐈.png"
        let failure = Failure(kind: "http", message: "the origin answered 404", retryAt: 12)
        var items = [Item.Phase.queued, .connecting, .receiving, .retrying, .publishing].map {
            var item = Item(url: url, key: "", state: .inFlight)
            item.phase = $0
            item.received = 123_456_789
            item.total = 987_654_321_000
            return item
        }
        items[3].failure = failure
        for item in items {
            var progress = FetchProgress(urls: [url])
            progress.replied([item], now: .zero)
            for terminal in [ascii, unicode] {
                let drawn = lines(progress, terminal, at: .zero, width: columns)
                #expect(drawn.allSatisfy { $0.columns < columns })
            }
        }
    }

    @Test func controlCharactersInAURLAreEscaped() {
        var progress = FetchProgress(urls: ["https://a/\u{1B}[2J"])
        progress.replied([Item(url: "https://a/\u{1B}[2J", key: "", state: .inFlight)], now: .zero)
        #expect(lines(progress, ascii, at: .zero)[0].hasSuffix(#"a/\u{1B}[2J"#))
    }

    private func lines(
        _ progress: FetchProgress, _ terminal: TerminalCapabilities, at now: Duration,
        width: Int = 100, height: Int = 24
    ) -> [String] {
        let time = LocalTime(elapsed: now, unixSecond: 1000, utcOffset: 0)
        return FetchView(
            terminal: terminal, size: TerminalSize(columns: width, lines: height), time: time
        ).lines(progress).map(\.text)
    }
}

extension Item {
    fileprivate static func receiving(_ name: String, _ received: Int, of total: Int?) -> Item {
        var item = Item(url: "https://example.com/\(name)", key: "", state: .inFlight)
        item.phase = .receiving
        item.received = received
        item.total = total
        return item
    }
}
