import CacheWire
import Testing

@testable import cachectl

@Suite struct TextTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9949, "9.9 kB"), (9950, "10 kB"),
        (22_000, "22 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (1_449_999, "1.4 MB"),
        (Int.max, "9.2 EB"),
    ])
    func sizesHaveTwoOrThreeDigits(bytes: Int, text: String) {
        #expect(ByteCountText.describe(bytes) == text)
    }

    @Test(arguments: [
        (-5, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"),
        (86_400, "1 d"), (200_000, "2 d"),
    ])
    func agesHaveOneUnit(seconds: Int, text: String) {
        #expect(TimeText.describe(seconds: seconds) == text)
    }

    @Test func timesAreUTC() {
        #expect(TimeText.describe(unixSecond: 1_795_236_516) == "2026-11-21T04:48:36Z")
    }

    @Test(arguments: [
        ("plain text 画像", "plain text 画像"), ("\u{1B}[31m", #"\u{1B}[31m"#),
        ("a\nb\r", #"a\u{A}b\u{D}"#), ("\u{9B}31m\u{7F}", #"\u{9B}31m\u{7F}"#),
        ("a\u{202E}b", #"a\u{202E}b"#), ("\u{FEFF}a\u{61C}", #"\u{FEFF}a\u{61C}"#),
        ("a\u{2060}\u{200D}b\u{AD}", #"a\u{2060}\u{200D}b\u{AD}"#), ("\u{E0061}", #"\u{E0061}"#),
    ])
    func controlCharactersAreEscaped(text: String, printable: String) {
        #expect(text.printable == printable)
    }

    @Test func controlCharactersAreEscapedInJSON() {
        func escaped(_ text: String) -> String {
            String(decoding: Array(text.utf8).printableJSON, as: UTF8.self)
        }
        #expect(escaped(#"{"a":"画像 \u001b"}"#) == #"{"a":"画像 \u001b"}"#)
        #expect(escaped("\"\u{202E}\u{7F}\u{9B}\u{AD}é\"") == #""\u202e\u007f\u009b\u00adé""#)
        #expect(escaped("\"\u{E0061}🐈\"") == #""\udb40\udc61🐈""#)
    }

    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678"), (-1234, "-1,234"),
    ])
    func numbersHaveCommas(number: Int, text: String) {
        #expect(CountText.describe(number) == text)
    }

    @Test(arguments: [
        (0, 0, "-"), (0, 5, "0.0 %"), (5, 5, "100.0 %"), (1, 3, "33.3 %"),
        (1, 1_000_000, "0.1 %"), (999_999, 1_000_000, "99.9 %"), (3, 2, "150.0 %"),
    ])
    func onlyAllIsAHundredPercent(part: Int, whole: Int, text: String) {
        #expect(CountText.share(part, of: whole) == text)
    }

    @Test(arguments: [(40, 2), (50, 3), (64, 4), (72, 5), (80, 6), (nil, 6)])
    func narrowTerminalsGetFewerColumns(width: Int?, columns: Int) {
        var item = Item(
            url: "https://example.com/" + String(repeating: "x", count: 90), key: "k",
            state: .cached)
        (item.size, item.mediaType) = (22_000, "image/jpeg")
        var table = ItemTable(time: .lastUse, now: 0, columns: width)
        let lines = table.lines([item])
        let titles = lines[0].split(separator: #/  +/#)
        #expect(titles.count == columns && titles.last == "URL")
        #expect(lines.allSatisfy { $0.columns <= width ?? .max })
    }

    @Test func keptDownloadsAreCounted() {
        var kept = KeptDownloads()
        var partial = Item(url: "u", key: "k", state: .missing)
        partial.received = 1_200_000
        kept.count([Item(url: "u", key: "k", state: .cached), partial])
        #expect(
            kept.text == "interrupted: 1 of 2 images are cached; a partial download of 1.2 MB is "
                + "kept, and the next fetch continues it")
        kept.count([partial, Item(url: "u", key: "k", state: .inFlight)])
        #expect(
            kept.text == "interrupted: 1 of 4 images are cached; 2 partial downloads of 2.4 MB are "
                + "kept, and the next fetch continues them; 1 download continues for other callers")
    }

    @Test(arguments: [
        ("abc", 3), ("画像", 4), ("🐈", 2), ("⌚⭐", 4), ("→", 1), ("🇩🇪🇫🇷", 4), ("e\u{301}", 1), ("", 0),
    ])
    func columnsMatchTheTerminal(text: String, columns: Int) {
        #expect(text.columns == columns)
    }

    @Test(arguments: [
        ("abcdefghij", 10, "abcdefghij"), ("abcdefghij", 7, "ab…ghij"), ("abcdefghij", 2, "…j"),
        ("画像画像", 4, "…像"), ("abc", 1, "…"), ("abc", 0, ""), ("abc", -3, ""),
    ])
    func middleCutsTheMiddle(text: String, columns: Int, cut: String) {
        #expect(text.middle(columns: columns, mark: "…") == cut)
    }

    @Test(arguments: [
        (40, "a.example.com/b/c/d/name.png?width=80"), (36, "a.example.com/b/c/d/name.png…"),
        (28, "a.example.co…/b/c/d/name.png"), (24, "a.exampl…/b/c/d/name.png"),
        (16, "a.ex…/d/name.png"), (14, "a.ex…/name.png"), (13, "a.e…/name.png"),
        (12, "a.e…name.png"), (11, "a.e…ame.png"), (2, "…g"), (0, ""),
    ])
    func urlIsShortenedPartByPart(columns: Int, short: String) {
        let url = "https://a.example.com/b/c/d/name.png?width=80"
        #expect(url.shortURL(columns: columns, mark: "…") == short)
    }

    @Test(arguments: [
        ("https://a.example.com?q=long", "a.example.com…"),
        ("https://a.example.com/dir/", "a.example…/dir/"),
        ("https://a.b/\u{1B}/c/d", "a.b/\\u{1B}/c/d"),
    ])
    func urlWithoutAFileNameIsShortened(url: String, short: String) {
        #expect(url.shortURL(columns: 15, mark: "…") == short)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("画像画像", 4, "画…"), ("ab", 0, ""),
    ])
    func prefixCutsTheEnd(text: String, columns: Int, cut: String) {
        #expect(text.prefix(columns: columns, mark: "…") == cut)
    }

    @Test func tableColumnsNeverShrink() {
        var table = Table([.right, .left, .left])
        let first = table.lines([["1", "ab", "x y"], ["22", "a", "z"]])
        #expect(first == [" 1  ab  x y", "22  a   z"])
        #expect(table.lines([["3", "c", "z"]]) == [" 3  c   z"])
    }

    @Test func batchesStayBelowTheLimitInOrder() {
        let urls = (0..<20_000).map { "https://example.com/\($0)" }
        let batches = Array(CallBatches(urls))
        #expect(batches.flatMap(\.self) == urls)
        #expect(batches.count == 2)
        let long = (0..<10_000).map { _ in String(repeating: "\u{1}", count: 2048) }
        for batch in CallBatches(long) {
            #expect(batch.count * (2048 * 6 + 3) < CallBatches.budget)
        }
        #expect(Array(CallBatches([])) == [])
        let huge = String(repeating: "a", count: CallBatches.budget * 2)
        #expect(CallBatches([huge, "b"]).map(\.count) == [1, 1])
    }

    @Test func linesOfStandardInputLoseTheirBlanksAndComments() throws {
        let list = try lines(Array("https://a/1\n\n # a\n#b\n\t https://a/ü c \r\n \r\nlast".utf8))
        #expect(list == URLList(["https://a/1", "https://a/ü c", "last"]))
    }

    @Test func nonUTF8LineIsRejectedWithItsNumber() throws {
        let list = try lines([0x61, 0x0A, 0x0A, 0xFF, 0x62, 0x0A, 0x63])
        #expect(list.urls == ["a", "c"])
        let invalidLine = try #require(list.invalidLines.first)
        #expect(list.invalidLines.count == 1 && invalidLine.position == 1)
        #expect(invalidLine.item.url == "\u{FFFD}b" && invalidLine.item.state == .missing)
        // The UUIDv5 of the two original bytes, not of the text that is shown for them.
        #expect(invalidLine.item.key == "299496d3-8eab-578e-933e-6023b5ff0172")
        #expect(invalidLine.item.hasInvalidURL)
        #expect(invalidLine.item.failure?.message == "line 3 of standard input is not UTF-8")
    }

    @Test func tooLongLineIsRejectedWithItsNumber() throws {
        let long = [UInt8](repeating: 0x22, count: 9_000_000)
        let list = try lines(Array("a\n".utf8) + long + Array("\nb".utf8))
        #expect(list.urls == ["a", "b"])
        let item = try #require(list.invalidLines.first).item
        #expect(item.hasInvalidURL && item.url.utf8.count == 9_000_000)
        #expect(
            item.failure?.message
                == "line 2 of standard input has 9000000 bytes; a URL has at most 8192")
    }

    @Test(arguments: [
        ("a", ["a"]), ("!a", ["!", "a"]), ("a!", ["a", "!"]),
        ("!a!!b!", ["!", "a", "!", "!", "b", "!"]), ("!", ["!"]), ("", []),
    ])
    func rejectedLinesKeepTheirPositionsAmongTheItems(marks: String, answers: [String]) throws {
        let list = try lines(marks.utf8.flatMap { [$0 == UInt8(ascii: "!") ? 0xFF : $0, 0x0A] })
        var calls: [[String]] = []
        var seen: [String] = []
        try list.callInBatches { urls in
            calls.append(urls)
            return urls.map { Item(url: $0, key: "k", state: .missing) }
        } handle: { items in
            seen += items.map { $0.hasInvalidURL ? "!" : $0.url }
        }
        #expect(seen == answers)
        let wanted = answers.filter { $0 != "!" }
        #expect(calls == (wanted.isEmpty ? [] : [wanted]))
    }

    @Test func rejectedLinesKeepTheirPositionsAcrossBatches() throws {
        let index = 19_000
        var texts = (0..<20_000).map { Array("https://example.com/\($0)".utf8) }
        texts.insert([0xFF], at: index)
        let list = try lines(Array(texts.joined(separator: [0x0A])))
        var calls = 0
        var seen: [Bool] = []
        try list.callInBatches { urls in
            calls += 1
            return urls.map { Item(url: $0, key: "k", state: .missing) }
        } handle: { items in
            seen += items.map(\.hasInvalidURL)
        }
        #expect(calls == 2 && seen.count == 20_001)
        #expect(seen.firstIndex(of: true) == index && seen.lastIndex(of: true) == index)
    }

    private func lines(_ bytes: [UInt8]) throws -> URLList {
        var list = URLList()
        try StandardInput.append(linesOf: bytes, to: &list)
        return list
    }
}
