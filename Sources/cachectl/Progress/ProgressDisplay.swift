import CacheWire
import Glibc

/// The progress display on a terminal: owns the board and draws it.
///
/// Whatever ends the fetch, the screen is left as it was: by ``erase()``, and by the signal handler
/// of ``Signals`` on Ctrl-C.
final class ProgressDisplay {
    private let terminal: Terminal
    private let style: ProgressStyle
    private let screen = ProgressScreen()
    private let start = ContinuousClock.now
    private var board = ProgressBoard(urls: [])
    private var isBlank = true

    private init(terminal: Terminal, style: ProgressStyle) {
        self.terminal = terminal
        self.style = style
    }

    /// A display on standard error, if that is a terminal.
    static func onTerminal() -> ProgressDisplay? {
        let environment = Terminal.environment()
        guard let terminal = Terminal(environment: environment) else { return nil }
        Signals.eraseDisplayOnInterrupt()
        return ProgressDisplay(
            terminal: terminal, style: ProgressStyle(environment: environment))
    }

    /// Forgets what was and expects news about `urls`.
    func begin(_ urls: [String]) {
        board = ProgressBoard(urls: urls)
    }

    /// Takes in what a reply says, and draws.
    func update(_ items: [Item]) {
        board.replied(items, now: now)
        tick()
    }

    /// Draws what is known now.
    func tick() {
        let (columns, lines) = terminal.size
        let renderer = ProgressRenderer(style: style, columns: columns, lines: lines)
        let drawn = renderer.render(board, now: now)
        guard !(drawn.isEmpty && isBlank) else { return }
        isBlank = drawn.isEmpty
        let frame = screen.frame(drawn)
        // Ctrl-C in the middle of a frame would find the cursor on some other line.
        Signals.withoutInterruption { terminal.write(frame) }
    }

    /// Leaves the screen as it was.
    func erase() {
        guard !isBlank else { return }
        isBlank = true
        Signals.withoutInterruption { terminal.write("\(ProgressScreen.erase)") }
    }

    private var now: Duration { start.duration(to: .now) }
}

extension Terminal {
    /// The variables that decide how to draw. getenv(3).
    static func environment() -> [String: String] {
        var values: [String: String] = [:]
        for name in ["TERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"] {
            values[name] = getenv(name).map { String(cString: $0) }
        }
        return values
    }
}
