import Glibc

/// The size of a terminal, in cells or in pixels.
struct TerminalSize: Hashable {
    var columns: Int
    var lines: Int
}

extension TerminalSize {
    /// The size in cells, or that of a VT100 if the terminal does not report it. ioctl_tty(2).
    init(of descriptor: Int32) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else {
            self.init(columns: 80, lines: 24)
            return
        }
        self.init(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    /// The size in pixels; `nil` if the terminal does not report it. ioctl_tty(2).
    init?(pixelsOf descriptor: Int32) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_xpixel > 0,
            size.ws_ypixel > 0
        else { return nil }
        self.init(columns: Int(size.ws_xpixel), lines: Int(size.ws_ypixel))
    }
}
