import Glibc

/// The whole terminal for a while: the alternate screen, no cursor, keys at once. ``leave()`` gives it
/// back as it was.
final class FullScreen {
    let device: TerminalDevice
    private let modes: TerminalModes
    private var writer: CanvasWriter

    /// Longest wait for a terminal that does not read any more, when it is given back.
    private static let drainTimeout: Int32 = 500

    /// `nil` unless both standard input and standard output are a terminal.
    init?(terminal: TerminalCapabilities) {
        guard isatty(STDIN_FILENO) == 1, let device = TerminalDevice(of: STDOUT_FILENO),
            let modes = TerminalModes(of: device.descriptor)
        else { return nil }
        self.device = device
        self.modes = modes
        writer = CanvasWriter(terminal: terminal)
    }

    /// Takes the terminal, the first time and each time it was given back. The private modes are those
    /// of xterm: 1049 alternate screen, 25 cursor, 7 wrapping of long lines.
    func enter() {
        // In the background this stops the program, before anything is on the screen.
        modes.makeImmediate()
        device.write("\u{1B}[?1049h")
        resume()
    }

    /// Goes on where the program was stopped without a chance to give the terminal back (SIGSTOP), and the
    /// shell has set its own modes.
    func resume() {
        modes.makeImmediate()
        writer.forget()
        device.write("\u{1B}[?25l\u{1B}[?7l")
    }

    /// Gives the terminal back. Of a frame it is still reading the rest is not sent, and what was is
    /// cancelled in the middle of a sequence (CAN, ECMA-48).
    func leave() {
        let isInFrame = !device.isDrained
        device.discard()
        device.write((isInFrame ? "\u{18}" : "") + "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        device.drain(within: Self.drainTimeout)
        modes.restore()
    }

    /// Shows a screen. While the terminal still reads the one before, there is no sense in the next.
    func show(_ canvas: Canvas) {
        device.write(writer.frame(canvas))
    }

    /// What is on the screen is not what was drawn: its size has changed.
    func redrawAll() {
        writer.forget()
    }
}
