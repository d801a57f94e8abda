import Glibc

/// Draws lines on the terminal at standard error, each time over the previous ones.
///
/// However the command ends, ``erase()`` or the signal handlers of ``Signals`` restore the screen.
final class InlineDisplay {
    let terminal: TerminalCapabilities
    private var isBlank = true

    private init(terminal: TerminalCapabilities) {
        self.terminal = terminal
    }

    /// A display on standard error; `nil` unless that is a terminal that can move its cursor.
    /// isatty(3).
    static func onTerminal() -> InlineDisplay? {
        let environment = TerminalCapabilities.environment()
        guard isatty(STDERR_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
        Signals.eraseDisplayOnSignals()
        return InlineDisplay(terminal: TerminalCapabilities(environment: environment))
    }

    var size: TerminalSize { TerminalSize(of: STDERR_FILENO) }

    /// Draws lines over the previous ones.
    func draw(_ lines: [StyledLine]) {
        guard !(lines.isEmpty && isBlank) else { return }
        isBlank = lines.isEmpty
        write(Self.frame(lines, for: terminal))
    }

    /// Removes all lines from the screen.
    func erase() {
        guard !isBlank else { return }
        isBlank = true
        write("\(Self.erasure)")
    }

    /// Errors are ignored: the command continues even if the terminal is gone. Signals are blocked
    /// while a frame is written, because a handler that ran in the middle of a frame would find the
    /// cursor on another line.
    private func write(_ text: String) {
        var text = text
        Signals.withoutInterruption {
            _ = text.withUTF8 { StandardStream.error.write(UnsafeRawBufferPointer($0)) }
        }
    }
}

extension InlineDisplay {
    /// Carriage return, then Erase in Page from the cursor to the end (ECMA-48).
    static let erasure: StaticString = "\r\u{1B}[J"

    /// The bytes that replace the previous lines by `lines` (ECMA-48).
    ///
    /// After each frame the cursor is at the first column of the first line, so that ``erasure`` alone
    /// clears the screen, whichever lines were drawn.
    static func frame(_ lines: [StyledLine], for terminal: TerminalCapabilities) -> String {
        var frame = "\r"
        for line in lines {
            // Erase in Line removes the rest of a longer previous line.
            frame += line.encoded(terminal) + "\u{1B}[K\n"
        }
        frame += "\u{1B}[J"
        if !lines.isEmpty {
            // Cursor Up.
            frame += "\u{1B}[\(lines.count)A"
        }
        return frame
    }
}
