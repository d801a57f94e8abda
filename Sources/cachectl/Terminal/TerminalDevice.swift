import Glibc

/// A second, non-blocking descriptor of the terminal. `O_NONBLOCK` belongs to this open file
/// description alone, so that the shell's descriptors are not affected.
final class TerminalDevice {
    let descriptor: Int32
    /// Bytes that the terminal has not accepted yet.
    private var unsent: ArraySlice<UInt8> = []

    /// `nil` if `standard` is not a terminal or its device cannot be opened. isatty(3), ttyname(3),
    /// open(2).
    init?(of standard: Int32) {
        guard isatty(standard) == 1, let name = ttyname(standard) else { return nil }
        descriptor = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// The size in columns and lines, or that of a VT100 if the terminal does not report it.
    var size: TerminalSize { TerminalSize(of: descriptor) }

    /// Whether the terminal has accepted all bytes.
    var isDrained: Bool { unsent.isEmpty }

    /// Writes as many bytes as the terminal accepts now. ``flush()`` writes the rest.
    func write(_ text: String) {
        unsent += Array(text.utf8)
        flush()
    }

    /// Continues to write. Bytes for a terminal that is gone are dropped. write(2).
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

    /// Waits until the terminal has accepted all bytes or the time is over. poll(2).
    func drain(within milliseconds: Int32) {
        let end = ContinuousClock.now + .milliseconds(Int(milliseconds))
        while !isDrained, ContinuousClock.now < end {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&entry, 1, milliseconds)
            flush()
        }
    }

    /// Drops the bytes that the terminal has not accepted.
    func discard() {
        unsent = []
    }

    /// Returns the typed bytes; `nil` if the terminal is gone. read(2).
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil }
        return Array(bytes[..<count])
    }
}
