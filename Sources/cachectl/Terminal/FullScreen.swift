import Glibc

/// The whole terminal for a while: the alternate screen, no cursor, keys at once. ``leave()`` gives it
/// back as it was.
final class FullScreen {
    let port: TerminalPort
    private let modes: TerminalModes
    private var writer: CanvasWriter

    /// Longest wait for a terminal that does not read any more, when it is given back.
    private static let farewell: Int32 = 500

    /// `nil` unless both standard input and standard output are a terminal.
    init?(look: Look) {
        guard isatty(STDIN_FILENO) == 1, let port = TerminalPort(of: STDOUT_FILENO),
            let modes = TerminalModes(of: port.descriptor)
        else { return nil }
        self.port = port
        self.modes = modes
        writer = CanvasWriter(look: look)
    }

    /// Takes the terminal, the first time and each time it was given back. The private modes are those
    /// of xterm: 1049 alternate screen, 25 cursor, 7 wrapping of long lines.
    func enter() {
        // In the background this stops the program, before anything is on the screen.
        modes.makeImmediate()
        port.write("\u{1B}[?1049h")
        resume()
    }

    /// Goes on where the program was stopped without a chance to give the terminal back (SIGSTOP), and the
    /// shell has set its own modes.
    func resume() {
        modes.makeImmediate()
        writer.forget()
        port.write("\u{1B}[?25l\u{1B}[?7l")
    }

    /// Gives the terminal back. Of a frame it is still reading the rest is not sent, and what was is
    /// cancelled in the middle of a sequence (CAN, ECMA-48).
    func leave() {
        let isInFrame = !port.isDrained
        port.discard()
        port.write((isInFrame ? "\u{18}" : "") + "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        port.drain(within: Self.farewell)
        modes.restore()
    }

    /// Shows a screen. While the terminal still reads the one before, there is no sense in the next.
    func show(_ canvas: Canvas) {
        port.write(writer.frame(canvas))
    }

    /// What is on the screen is not what was drawn: its size has changed.
    func redrawAll() {
        writer.forget()
    }
}
