import Glibc

/// Columns and lines of a terminal, in cells or in pixels.
struct TerminalSize: Hashable {
    var columns: Int
    var lines: Int
}

extension TerminalSize {
    /// Those of a VT100 where the terminal does not say. ioctl_tty(2).
    init(of descriptor: Int32) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else {
            self.init(columns: 80, lines: 24)
            return
        }
        self.init(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    /// The same in pixels; `nil` where the terminal does not say. ioctl_tty(2).
    init?(pixelsOf descriptor: Int32) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_xpixel > 0,
            size.ws_ypixel > 0
        else { return nil }
        self.init(columns: Int(size.ws_xpixel), lines: Int(size.ws_ypixel))
    }
}
