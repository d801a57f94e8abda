import Glibc

/// The terminal under a descriptor, opened once more so that neither reading nor writing ever waits:
/// the flag belongs to this opening alone, not to the shell's.
final class TerminalDevice {
    let descriptor: Int32
    /// What the terminal has not taken yet.
    private var unsent: ArraySlice<UInt8> = []

    /// `nil` where there is no terminal, or not its device. isatty(3), ttyname(3), open(2).
    init?(of standard: Int32) {
        guard isatty(standard) == 1, let name = ttyname(standard) else { return nil }
        descriptor = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Columns and lines; those of a VT100 where the terminal does not say.
    var size: TerminalSize { TerminalSize(of: descriptor) }

    /// Whether the terminal has taken everything.
    var isDrained: Bool { unsent.isEmpty }

    /// Writes as much as the terminal takes now, and the rest when ``flush()`` is called.
    func write(_ text: String) {
        unsent += Array(text.utf8)
        flush()
    }

    /// Goes on writing. A terminal that is gone takes everything. write(2).
    func flush() {
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                unsent = unsent.dropFirst(count)
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                unsent = []
            }
        }
    }

    /// Waits for the terminal to take everything, but no longer than so many milliseconds. poll(2).
    func drain(within milliseconds: Int32) {
        let end = ContinuousClock.now + .milliseconds(Int(milliseconds))
        while !isDrained, ContinuousClock.now < end {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&entry, 1, milliseconds)
            flush()
        }
    }

    /// Forgets what the terminal has not taken.
    func discard() {
        unsent = []
    }

    /// What was typed, or `nil` when the terminal is gone. read(2).
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil }
        return Array(bytes[..<count])
    }
}
