import Glibc

/// A FIFO and its writing end, like the one a service manager names in `$MEMORY_PRESSURE_WATCH`.
public struct FIFO: Sendable {
    public let path: String
    private let descriptor: Int32

    /// Creates a FIFO in its own directory; it is removed when the scope ends. mkfifo(3).
    public init(in scope: TestScope) throws {
        path = try TemporaryDirectory(in: scope).file("fifo")
        guard mkfifo(path, 0o600) == 0 else { throw TestFailure.syscall("mkfifo", path) }
        // Opened for both directions, so that open(2) does not wait for a reader.
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestFailure.syscall("open", path) }
        scope.atEnd { close(descriptor) }
        self.descriptor = descriptor
    }

    /// Writes the text in one call. write(2).
    public func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw TestFailure.syscall("write", path)
        }
    }
}
