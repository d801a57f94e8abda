import CacheWire
import Testing

@testable import cachectl

@Suite struct ProgressRendererTests {
    private let ascii = ProgressStyle(isUnicode: false, hasColor: false)

    @Test func aKnownTotalHasPercentRateAndTimeLeft() {
        var board = ProgressBoard(urls: ["https://example.com/a.png"])
        board.replied([.receiving("a.png", 210_000, of: 1_000_000)], now: .zero)
        board.replied([.receiving("a.png", 420_000, of: 1_000_000)], now: .seconds(1))
        #expect(
            render(board, now: .seconds(1)) == [
                "########------------   42.0%    420 kB/1.0 MB   210 kB/s     0:03  "
                    + "example.com/a.png"
            ])
    }

    @Test func anUnknownTotalHasABlockThatMovesToAndFro() {
        var board = ProgressBoard(urls: ["https://example.com/a.png"])
        board.replied([.receiving("a.png", 420_000, of: nil)], now: .zero)
        let bars = [0, 1, 15, 16, 29, 30].map { tenths in
            String(render(board, now: .milliseconds(100 * tenths))[0].prefix(20))
        }
        #expect(
            bars == [
                "#####---------------", "-#####--------------", "---------------#####",
                "--------------#####-", "-#####--------------", "#####---------------",
            ])
        #expect(!render(board, now: .zero)[0].contains("%"))
    }

    @Test func thePhaseStandsWhereNoBytesCome() {
        var board = ProgressBoard(urls: ["https://example.com/a.png"])
        for phase in [Item.Phase.queued, .connecting, .retrying, .publishing] {
            var item = Item.receiving("a.png", 0, of: nil)
            item.phase = phase
            board.replied([item], now: .zero)
            #expect(render(board, now: .zero)[0].contains(phase.rawValue))
        }
    }

    @Test func whatIsCachedOrMissingIsNotDrawn() {
        var board = ProgressBoard(urls: ["https://example.com/a.png", "https://example.com/b.png"])
        #expect(render(board, now: .zero).isEmpty)
        board.replied([.receiving("a.png", 1, of: 2), .receiving("b.png", 1, of: 2)], now: .zero)
        #expect(render(board, now: .zero).count == 2)
        let (first, second) = ("https://example.com/a.png", "https://example.com/b.png")
        board.replied([Item(url: first, key: "", state: .cached)], now: .zero)
        #expect(render(board, now: .zero).count == 1)
        board.replied([Item(url: second, key: "", state: .missing)], now: .zero)
        #expect(render(board, now: .zero).isEmpty)
    }

    @Test func tooManyDownloadsAreCounted() {
        let names = (0..<10).map { "\($0).png" }
        var board = ProgressBoard(urls: names.map { "https://example.com/\($0)" })
        board.replied(names.map { .receiving($0, 1, of: 2) }, now: .zero)
        let lines = ProgressRenderer(style: ascii, columns: 100, lines: 5)
            .render(board, now: .zero)
        #expect(lines.count == 4)
        #expect(lines.last == "... and 7 more")
    }

    @Test func thoseAtWorkStandBeforeThoseThatWait() {
        var board = ProgressBoard(urls: ["https://example.com/a.png", "https://example.com/b.png"])
        var waiting = Item.receiving("a.png", 0, of: nil)
        waiting.phase = .queued
        board.replied([waiting, .receiving("b.png", 1, of: 2)], now: .zero)
        #expect(render(board, now: .zero).map { $0.hasSuffix("b.png") } == [true, false])
    }

    @Test(arguments: 1...120)
    func noLineIsAsLongAsTheTerminal(columns: Int) {
        let url = "https://example.com/画像/" + String(repeating: "path/", count: 30) + "🐈.png"
        var board = ProgressBoard(urls: [url])
        var item = Item(url: url, key: "", state: .inFlight)
        item.received = 123_456_789
        item.total = 987_654_321_000
        board.replied([item], now: .zero)
        let unicode = ProgressStyle(isUnicode: true, hasColor: false)
        for style in [ascii, unicode] {
            let line = ProgressRenderer(style: style, columns: columns, lines: 24)
                .render(board, now: .zero)
            #expect(line.allSatisfy { $0.columns < columns })
        }
    }

    @Test func aURLCannotCommandTheTerminal() {
        var board = ProgressBoard(urls: ["https://a/\u{1B}[2J"])
        board.replied([Item(url: "https://a/\u{1B}[2J", key: "", state: .inFlight)], now: .zero)
        #expect(render(board, now: .zero)[0].hasSuffix(#"a/\u{1B}[2J"#))
    }

    @Test func colourIsPutAroundWhatIsDone() {
        let bar = ProgressBar(style: .init(isUnicode: true, hasColor: true), width: 4)
        #expect(bar.determinate(0.5) == "\u{1B}[32m━━\u{1B}[0m──")
        #expect(bar.determinate(0) == "────")
    }

    @Test(arguments: [
        (["LANG": "C.UTF-8"], true, true),
        (["LANG": "de_DE.utf8", "NO_COLOR": "1"], true, false),
        (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], false, true),
        (["LC_ALL": "", "LC_CTYPE": "en_US.UTF-8", "NO_COLOR": ""], true, true),
        ([:], false, true),
    ])
    func theEnvironmentDecidesTheStyle(
        environment: [String: String], isUnicode: Bool, hasColor: Bool
    ) {
        let style = ProgressStyle(environment: environment)
        #expect(style == ProgressStyle(isUnicode: isUnicode, hasColor: hasColor))
    }

    private func render(_ board: ProgressBoard, now: Duration) -> [String] {
        ProgressRenderer(style: ascii, columns: 100, lines: 24).render(board, now: now)
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
