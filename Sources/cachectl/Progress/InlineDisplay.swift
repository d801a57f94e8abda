import Glibc

/// Lines on a terminal's standard error that are drawn again and again.
///
/// Whatever ends the work, the screen is left as it was: by ``erase()``, and by the signal handlers
/// of ``Signals``.
final class InlineDisplay {
    let look: Look
    private let screen: InlineScreen
    private var isBlank = true

    private init(look: Look) {
        self.look = look
        screen = InlineScreen(look: look)
    }

    /// A display on standard error, if that is a terminal that can move its cursor. isatty(3).
    static func onTerminal() -> InlineDisplay? {
        let environment = Look.environment()
        guard isatty(STDERR_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
        Signals.eraseDisplayFirst()
        return InlineDisplay(look: Look(environment: environment))
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

extension Look {
    /// The variables that decide how to draw. getenv(3).
    static func environment() -> [String: String] {
        var values: [String: String] = [:]
        for name in variables {
            values[name] = getenv(name).map { String(cString: $0) }
        }
        return values
    }
}
