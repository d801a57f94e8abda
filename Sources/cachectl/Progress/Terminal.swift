import Glibc

/// The terminal on standard error.
struct Terminal {
    private static let descriptor = STDERR_FILENO

    /// `nil` when standard error is no terminal, or one that cannot move its cursor. isatty(3).
    init?(environment: [String: String]) {
        guard isatty(Self.descriptor) == 1, environment["TERM"] != "dumb" else { return nil }
    }

    /// Columns and lines; those of a VT100 where the terminal does not say. ioctl_tty(2).
    var size: (columns: Int, lines: Int) {
        var size = winsize()
        guard ioctl(Self.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Draws; a terminal that is gone is no failure of the fetch.
    func write(_ text: String) {
        var text = text
        _ = text.withUTF8 { StandardStream.error.write(UnsafeRawBufferPointer($0)) }
    }
}
