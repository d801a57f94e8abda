import CacheWire
import Testing

@testable import cachectl

@Suite struct ScreenPartsTests {
    private let unicode = TerminalCapabilities(isUnicode: true, colors: .sixteen)
    private let ascii = TerminalCapabilities(isUnicode: false, colors: .none)

    @Test(arguments: [
        (0.0, "○", "."), (0.01, "○", "."), (0.25, "◔", "-"), (0.5, "◑", "o"), (0.749, "◑", "o"),
        (0.75, "◕", "O"), (0.999, "◕", "O"), (1.0, "●", "@"), (7.0, "●", "@"), (-1.0, "○", "."),
    ])
    func ringIsNeverAheadAndClosesOnlyAtTheEnd(fraction: Double, drawn: String, plain: String) {
        #expect(Sign(terminal: unicode).ring(fraction) == drawn)
        #expect(Sign(terminal: ascii).ring(fraction) == plain)
    }

    @Test func aPauseEmptiesItsRing() {
        var item = Item(url: "http://a.example/", key: "k", state: .inFlight, phase: .retrying)
        item.failure = Failure(kind: "transport", message: "no answer", retryAt: 1_800_000_013)
        var download = DownloadProgress(url: item.url)
        download.changed(to: item, now: .seconds(4))
        // What is reported again begins no new pause.
        download.changed(to: item, now: .seconds(5))
        let signs = (0...10).map { second in
            let time = LocalTime(
                elapsed: .seconds(4 + second), unixSecond: 1_800_000_004 + second, utcOffset: 0)
            return String(
                DownloadLine(terminal: unicode, columns: 80, time: time).line(download).text
                    .prefix(1))
        }
        #expect(signs.joined() == "◍◍◍◍◐◐◐◴◴↻↻")
        let plain = [1, 0.5, 0.1, nil].map {
            Sign(terminal: ascii).text(.retrying, fraction: $0, now: .zero)
        }
        #expect(plain == ["%", "+", ",", "~"])
    }

    @Test func onlyWhatComesMoves() {
        for terminal in [unicode, ascii] {
            for state in ImageState.allCases {
                let frames = (0..<40).map {
                    Sign(terminal: terminal).line(state, now: .milliseconds(100 * $0)).text
                }
                #expect(Set(frames).count == 1 || state.isComing, "\(state)")
                #expect(frames.allSatisfy { $0.columns == 1 })
            }
        }
    }

    @Test func eachStateHasASignOfItsOwn() {
        for terminal in [unicode, ascii] {
            let signs = ImageState.allCases.map {
                Sign(terminal: terminal).line($0, fraction: 0.5, now: .zero).text
            }
            #expect(Set(signs).count == 12, "\(signs)")
        }
    }

    @Test(arguments: [
        (0.0, "░░░░", "----"), (0.125, "▌░░░", "----"), (0.5, "██░░", "##--"),
        (0.9, "███▌", "###-"), (0.97, "███▉", "###-"), (1.0, "████", "####"),
        (3.0, "████", "####"),
    ])
    func barFillsInEighths(fraction: Double, drawn: String, plain: String) {
        #expect(Bar(terminal: unicode, width: 4).line(fraction).text == drawn)
        #expect(Bar(terminal: ascii, width: 4).line(fraction).text == plain)
        #expect(Bar(terminal: unicode, width: 0).line(fraction).text == "")
    }

    @Test func brightnessDependsOnlyOnTheColumn() {
        let shimmer = Shimmer(columns: 60, now: .milliseconds(800))
        let letters = String(repeating: "x", count: 60)
        let whole = shimmer.line(letters, at: 0)
        #expect(whole.text == letters)
        #expect(
            shimmer.line("画x", at: 20).cells.map(\.style)
                == [20, 20, 22].map { whole.cells[$0].style })
        #expect(whole.cells[0].style == .shimmer(0) && whole.cells[30].style == .shimmer(8))
    }

    @Test func lightSweepsToTheRightAndPauses() {
        func middle(_ milliseconds: Int) -> Int? {
            Shimmer(columns: 60, now: .milliseconds(milliseconds))
                .line(String(repeating: "x", count: 60), at: 0).cells
                .firstIndex { $0.style == .shimmer(8) }
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
