import Testing

@testable import cachectl

@Suite struct ScreenPartsTests {
    private let unicode = TerminalCapabilities(isUnicode: true, colors: .sixteen)
    private let ascii = TerminalCapabilities(isUnicode: false, colors: .none)

    @Test(arguments: [
        (0.0, "⠀⠀", ". "), (0.01, "⠀⠁", ": "), (0.125, "⠀⠁", ": "), (0.25, "⠀⠑", "- "),
        (0.5, "⠀⡱", "+ "), (0.75, "⢄⡱", "o "), (0.999, "⢆⡱", "O "), (1.0, "⢎⡱", "@ "),
        (7.0, "⢎⡱", "@ "), (-1.0, "⠀⠀", ". "),
    ])
    func ringFillsClockwiseAndClosesOnlyAtTheEnd(fraction: Double, braille: String, plain: String) {
        #expect(Ring(terminal: unicode).filled(fraction) == braille)
        #expect(Ring(terminal: ascii).filled(fraction) == plain)
    }

    @Test func ringTurnsOnceASecond() {
        let ring = Ring(terminal: unicode)
        let steps = (0..<8).map { ring.turning(now: .milliseconds(125 * $0)) }
        #expect(Set(steps).count == 8)
        #expect(ring.turning(now: .seconds(1)) == steps[0])
        #expect(Ring(terminal: ascii).turning(now: .milliseconds(125)) == "/ ")
    }

    @Test(arguments: [
        (0.0, "────", "----"), (0.125, "╸───", "----"), (0.5, "━━──", "##--"),
        (0.9, "━━━╸", "###-"), (1.0, "━━━━", "####"), (3.0, "━━━━", "####"),
    ])
    func barFillsInHalfColumns(fraction: Double, drawn: String, plain: String) {
        #expect(Bar(terminal: unicode, width: 4).line(fraction).text == drawn)
        #expect(Bar(terminal: ascii, width: 4).line(fraction).text == plain)
        #expect(Bar(terminal: unicode, width: 0).line(fraction).text == "")
    }

    @Test func brightnessDependsOnlyOnTheColumn() {
        let shimmer = Shimmer(terminal: ascii, columns: 60, now: .milliseconds(800))
        let whole = shimmer.line(at: 0, width: 60)
        #expect(shimmer.line(at: 20, width: 20).cells == Array(whole.cells[20..<40]))
        let dark = String(repeating: ".", count: 23)
        #expect(whole.text == dark + ".:::::===:::::" + dark)
    }

    @Test func lightSweepsToTheRightAndPauses() {
        func middle(_ milliseconds: Int) -> Int? {
            let line = Shimmer(terminal: ascii, columns: 60, now: .milliseconds(milliseconds))
                .line(at: 0, width: 60).text
            return line.firstIndex(of: "=").map { line.distance(from: line.startIndex, to: $0) }
        }
        let middles = stride(from: 0, to: 1600, by: 100).map(middle)
        let seen = middles.compactMap(\.self)
        #expect(seen == seen.sorted() && seen.count > 8)
        #expect(middles.first == .some(nil) && middles.last == .some(nil))
    }

    @Test func sparklineShowsTheNewestAndZeroAsEmpty() {
        #expect(Sparkline(terminal: unicode, width: 6).line([9, 0, 1, 4, 8]).text == " █▁▂▅█")
        #expect(Sparkline(terminal: unicode, width: 3).line([9, 0, 1, 4, 8]).text == "▂▅█")
        #expect(Sparkline(terminal: ascii, width: 3).line([0, 0.01, 100]).text == "_.#")
        #expect(Sparkline(terminal: ascii, width: 0).line([1]).text == "")
    }

    @Test(arguments: [
        (["LANG": "C.UTF-8"], false, true, TerminalCapabilities.Colors.sixteen),
        (["LANG": "de_DE.utf8", "NO_COLOR": "1", "COLORTERM": "truecolor"], false, true, .none),
        (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], false, false, .sixteen),
        (["LC_ALL": "", "LC_CTYPE": "en_US.UTF-8", "NO_COLOR": ""], false, true, .sixteen),
        (["LANG": "C.UTF-8", "COLORTERM": "truecolor"], false, true, .direct),
        (["LANG": "C.UTF-8", "COLORTERM": "24bit"], true, false, .direct),
        (["LANG": "C.UTF-8", "TERM": "dumb", "COLORTERM": "24bit"], false, false, .none),
        ([:], false, false, .sixteen),
    ])
    func environmentDeterminesTheCapabilities(
        environment: [String: String], isPlain: Bool, isUnicode: Bool,
        colors: TerminalCapabilities.Colors
    ) {
        let terminal = TerminalCapabilities(environment: environment, isPlain: isPlain)
        #expect(terminal == TerminalCapabilities(isUnicode: isUnicode, colors: colors))
    }

    @Test func renditionIsWrittenOnlyOnChange() {
        var line = StyledLine("ab", .done)
        line.append("cd")
        #expect(
            line.encoded(TerminalCapabilities(isUnicode: true, colors: .sixteen))
                == "\u{1B}[0;32mab\u{1B}[0mcd")
        #expect(
            StyledLine("ab", .shimmer(8)).encoded(
                TerminalCapabilities(isUnicode: true, colors: .direct))
                == "\u{1B}[0;38;2;208;208;208mab\u{1B}[0m")
        #expect(
            StyledLine("ab", .failure).encoded(TerminalCapabilities(isUnicode: true, colors: .none))
                == "\u{1B}[0;1mab\u{1B}[0m")
        let ascii = TerminalCapabilities(isUnicode: false, colors: .none)
        #expect(StyledLine("aé画\u{DB}31m").encoded(ascii) == "a????31m")
        #expect(
            StyledLine("a").selected(columns: 3).encoded(
                TerminalCapabilities(isUnicode: true, colors: .none))
                == "\u{1B}[0;7ma  \u{1B}[0m")
    }

    @Test func lineHasNoTerminalControls() {
        #expect(StyledLine("a\u{1B}[31m\u{202E}").text == #"a\u{1B}[31m\u{202E}"#)
    }

    @Test func halfAWideCharacterBecomesASpace() {
        let line = StyledLine("a画b")
        #expect(line.columns == 4)
        #expect(line.prefix(columns: 2).text == "a ")
        #expect(line.prefix(columns: 3).text == "a画")
        #expect(line.prefix(columns: 0).text == "")
    }
}
