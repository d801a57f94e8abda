import Glibc

/// One of the two streams that the process writes to.
enum StandardStream {
    case output
    case error

    private var descriptor: Int32 { self == .output ? STDOUT_FILENO : STDERR_FILENO }

    /// isatty(3).
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// The width of the terminal; `nil` if the stream leads elsewhere.
    var columns: Int? { isTerminal ? TerminalSize(of: descriptor).columns : nil }

    /// Whether the reader has closed the stream. A pipe reports `POLLERR`, a socket `POLLHUP`.
    /// poll(2).
    var isAbandoned: Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR | POLLHUP) != 0
    }

    /// Writes all bytes, or returns the errno that stopped it. write(2).
    func write(_ bytes: UnsafeRawBufferPointer) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(descriptor, piece.baseAddress, piece.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                waitUntilReady(descriptor, for: POLLOUT)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// Writes all bytes. Throws ``BrokenPipe`` if the reader has closed the stream.
    func print(_ bytes: UnsafeRawBufferPointer) throws {
        switch write(bytes) {
        case nil: break
        case EPIPE: throw BrokenPipe()
        case let number?: throw CommandFailure.system("write standard output", errno: number)
        }
    }
}

/// Waits until a non-blocking stream is ready. Another process that shares the stream may have set
/// `O_NONBLOCK`. poll(2).
func waitUntilReady(_ descriptor: Int32, for events: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    poll(&entry, 1, -1)
}
