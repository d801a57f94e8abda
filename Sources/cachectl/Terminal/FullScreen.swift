import Glibc

/// Uses the whole terminal: the alternate screen without a cursor, and unbuffered keys. ``leave()``
/// restores the terminal.
final class FullScreen {
    let device: TerminalDevice
    private let modes: TerminalModes
    private var writer: CanvasWriter

    /// The longest wait, in milliseconds, for a terminal that has stopped reading, when the
    /// terminal is restored.
    private static let drainTimeout: Int32 = 500

    /// `nil` unless standard input and standard output are terminals.
    init?(terminal: TerminalCapabilities) {
        guard isatty(STDIN_FILENO) == 1, let device = TerminalDevice(of: STDOUT_FILENO),
            let modes = TerminalModes(of: device.descriptor)
        else { return nil }
        self.device = device
        self.modes = modes
        writer = CanvasWriter(terminal: terminal)
    }

    /// Takes over the terminal, at the start and after each ``leave()``. The private modes are
    /// those of xterm: 1049 alternate screen, 25 cursor, 7 wrapping of long lines, 1000 buttons of the
    /// mouse, 1006 the form of their reports.
    func enter() {
        // If the program runs in the background, this call stops it before it draws anything.
        modes.makeImmediate()
        device.write("\u{1B}[?1049h")
        resume()
    }

    /// Continues after a SIGSTOP, which stopped the program before it could restore the terminal.
    /// By then the shell has set its own modes.
    func resume() {
        modes.makeImmediate()
        writer.forget()
        device.write("\u{1B}[?25l\u{1B}[?7l\u{1B}[?1000h\u{1B}[?1006h")
    }

    /// Restores the terminal. If the terminal has read only part of a frame, the rest is dropped
    /// and CAN (ECMA-48) cancels a sequence that was cut.
    func leave() {
        let isInFrame = !device.isDrained
        device.discard()
        device.write(
            (isInFrame ? "\u{18}" : "")
                + "\u{1B}[?1006l\u{1B}[?1000l\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        device.drain(within: Self.drainTimeout)
        modes.restore()
    }

    /// Draws a screen. Call it only while ``TerminalDevice/isDrained`` is true, because a terminal
    /// that still reads the previous frame gains nothing from the next one.
    func show(_ canvas: Canvas) {
        device.write(writer.frame(canvas))
    }

    /// Writes a picture, or something else that the frames do not contain, at a cell that is blank in
    /// all of them.
    func put(_ text: String, column: Int, line: Int) {
        device.write("\u{1B}[\(line + 1);\(column + 1)H" + text + "\u{1B}[0m")
    }

    /// Removes all pictures. The next frame draws the whole screen, which removes those that consist
    /// of cells. kitty's graphics protocol: delete.
    func removePictures() {
        device.write("\u{1B}_Ga=d,q=2\u{1B}\\")
        redrawAll()
    }

    /// Puts text into the clipboard of the machine at which the user sits: "Manipulate Selection Data"
    /// of xterm (OSC 52).
    func copy(_ text: String) {
        device.write("\u{1B}]52;c;\(Picture.base64(Array(text.utf8)))\u{07}")
    }

    /// Makes the next frame draw the whole screen, because the size of the terminal has changed.
    func redrawAll() {
        writer.forget()
    }
}
