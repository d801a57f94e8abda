import Glibc

/// A FIFO and the writing end of it, as a service manager has it that names the FIFO in
/// `$MEMORY_PRESSURE_WATCH`.
public struct FIFO: Sendable {
    public let path: String
    private let descriptor: Int32

    /// Makes a FIFO in a directory of its own; gone when the scope ends. mkfifo(3).
    public init(in scope: TestScope) throws {
        path = try TemporaryDirectory(in: scope).file("fifo")
        guard mkfifo(path, 0o600) == 0 else { throw TestFailure.syscall("mkfifo", path) }
        // For both directions, so that opening waits for nobody.
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestFailure.syscall("open", path) }
        scope.atEnd { close(descriptor) }
        self.descriptor = descriptor
    }

    /// Writes bytes in one piece. write(2).
    public func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw TestFailure.syscall("write", path)
        }
    }
}
