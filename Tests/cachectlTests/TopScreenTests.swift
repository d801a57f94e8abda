import CacheWire
import Testing

@testable import cachectl

@Suite struct TopScreenTests {
    private let unicode = TerminalCapabilities(isUnicode: true, colors: .sixteen)

    @Test(arguments: [(80, 24), (200, 50), (40, 10)])
    func screensMatchTheStoredOnes(columns: Int, lines: Int) throws {
        let size = "\(columns)x\(lines)"
        try expect(TopScene.downloads(columns, lines), unicode, in: "downloads-\(size).txt")
        try expect(TopScene.cached(columns, lines), unicode, in: "cached-\(size).txt")
        try expect(TopScene.users(columns, lines), unicode, in: "users-\(size).txt")
        try expect(TopScene.hosts(columns, lines), unicode, in: "hosts-\(size).txt")
        try expect(TopScene.details(columns, lines), unicode, in: "details-\(size).txt")
        var help = TopScene.downloads(columns, lines)
        help.isHelpShown = true
        try expect(help, unicode, in: "help-\(size).txt")
    }

    @Test func asciiTerminalGetsOnlyASCII() throws {
        let terminal = TerminalCapabilities(isUnicode: false, colors: .none)
        try expect(TopScene.downloads(80, 24), terminal, in: "downloads-ascii.txt")
        try expect(TopScene.cached(80, 24), terminal, in: "cached-ascii.txt")
        for model in [TopScene.downloads(80, 24), TopScene.cached(80, 24)] {
            let text = canvas(model, terminal).text.joined()
            #expect(text.utf8.allSatisfy { $0 < 0x80 })
        }
    }

    @Test(arguments: [
        ("none", TerminalCapabilities.Colors.none), ("sixteen", .sixteen), ("direct", .direct),
    ])
    func colorsMatchTheTerminal(name: String, colors: TerminalCapabilities.Colors) throws {
        let terminal = TerminalCapabilities(isUnicode: true, colors: colors)
        var writer = CanvasWriter(terminal: terminal)
        let frame = writer.frame(canvas(TopScene.downloads(80, 24), terminal))
        let lines = frame.replacing("\u{1B}", with: "␛").replacing("H", with: "H\n")
        try StoredScreen.expect([lines], in: "colours-\(name).txt")
        #expect(frame.contains("[0;32m") == (colors != .none))
        #expect(frame.contains("38;2;") == (colors == .direct))
    }

    @Test func removalNeedsConfirmation() throws {
        var model = TopScene.cached(80, 24)
        _ = model.pressed(.down, now: .zero)
        #expect(model.pressed(.character("x"), now: .zero) == [])
        try expect(model, unicode, in: "cached-confirmation.txt")
        let url = try #require(model.selected?.url)
        #expect(model.pressed(.character("y"), now: .zero) == [.remove(url)])
        _ = model.pressed(.character("x"), now: .zero)
        #expect(model.pressed(.escape, now: .zero) == [])
        #expect(model.confirmation == nil)
    }

    @Test(arguments: [TopModel.View.downloads, .cached])
    func everyKeyIsNamedOnNarrowScreensToo(view: TopModel.View) {
        let keys =
            view == .downloads
            ? ["q", "?", "tab", "/", "enter", "x", "r", "c"]
            : ["q", "?", "/", "p", "x", "r", "n", "l", "u"]
        let model = view == .downloads ? TopScene.downloads(80, 24) : TopScene.cached(80, 24)
        for columns in 29...100 {
            for terminal in [unicode, TerminalCapabilities(isUnicode: false, colors: .none)] {
                let line = KeyHints(terminal: terminal, model: model).line(columns: columns).text
                #expect(line.columns <= columns)
                #expect(
                    line.split(separator: " ").map(String.init).count { keys.contains($0) }
                        == keys.count)
            }
        }
    }

    @Test func idleScreenSaysThatThereIsNothingToDo() throws {
        let model = TopModel(size: TerminalSize(columns: 40, lines: 10))
        try expect(model, unicode, in: "downloads-idle.txt")
    }

    @Test(arguments: [(1, 1), (3, 2), (12, 4), (31, 6), (59, 13), (300, 14)])
    func everySizeHasAScreen(columns: Int, lines: Int) {
        var help = TopScene.downloads(columns, lines)
        help.isHelpShown = true
        for model in [
            TopScene.downloads(columns, lines), TopScene.cached(columns, lines),
            TopScene.hosts(columns, lines), TopScene.details(columns, lines), help,
        ] {
            let canvas = canvas(model, unicode)
            #expect(canvas.lines.count == lines)
            #expect(canvas.lines.allSatisfy { $0.count == columns })
        }
    }

    private func canvas(_ model: TopModel, _ terminal: TerminalCapabilities) -> Canvas {
        TopScreen(model: model, terminal: terminal, time: TopScene.time).canvas()
    }

    private func expect(_ model: TopModel, _ terminal: TerminalCapabilities, in name: String) throws
    {
        try StoredScreen.expect(canvas(model, terminal).text, in: name)
    }
}
