import Glibc

/// Lines on a terminal's standard error that are drawn again and again.
///
/// Whatever ends the work, the screen is left as it was: by ``erase()``, and by the signal handlers
/// of ``Signals``.
final class InlineDisplay {
    let terminal: TerminalCapabilities
    private let screen: InlineScreen
    private var isBlank = true

    private init(terminal: TerminalCapabilities) {
        self.terminal = terminal
        screen = InlineScreen(terminal: terminal)
    }

    /// A display on standard error, if that is a terminal that can move its cursor. isatty(3).
    static func onTerminal() -> InlineDisplay? {
        let environment = TerminalCapabilities.environment()
        guard isatty(STDERR_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
        Signals.eraseDisplayOnSignals()
        return InlineDisplay(terminal: TerminalCapabilities(environment: environment))
    }

    var size: TerminalSize { TerminalSize(of: STDERR_FILENO) }

    /// Draws lines over those before.
    func draw(_ lines: [StyledLine]) {
        guard !(lines.isEmpty && isBlank) else { return }
        isBlank = lines.isEmpty
        write(screen.frame(lines))
    }

    /// Leaves the screen as it was.
    func erase() {
        guard !isBlank else { return }
        isBlank = true
        write("\(InlineScreen.erase)")
    }

    /// A terminal that is gone is no failure of the work. Ctrl-C in the middle of a frame would find the
    /// cursor on some other line.
    private func write(_ text: String) {
        var text = text
        Signals.withoutInterruption {
            _ = text.withUTF8 { StandardStream.error.write(UnsafeRawBufferPointer($0)) }
        }
    }
}
