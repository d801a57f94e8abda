import CTestSupport
import Glibc

/// The descriptors a child receives. They are all close-on-exec here, because children started at the
/// same time would otherwise keep them open.
enum ChildStreams {
    typealias Pair = (read: Int32, write: Int32)

    /// A pipe. pipe2(2).
    static func pipe() throws -> Pair {
        var ends: [Int32] = [-1, -1]
        guard ctest_pipe(&ends) == 0 else { throw TestFailure.syscall("pipe2") }
        return (ends[0], ends[1])
    }

    static func open(_ sink: ChildProcess.ErrorSink) throws -> Pair {
        switch sink {
        case .pipe: try pipe()
        case .terminal(let columns): try terminal(columns: columns)
        }
    }

    /// A pseudo-terminal: bytes written to the terminal are read on the other side. pty(7).
    private static func terminal(columns: Int) throws -> Pair {
        var ends: [Int32] = [-1, -1]
        guard ctest_terminal(&ends, 24, Int32(columns)) == 0 else {
            throw TestFailure.syscall("posix_openpt")
        }
        return (ends[0], ends[1])
    }

    /// An unnamed file holding the input, read from its start. Unlike a pipe it needs no writer, and a
    /// child that does not read it causes no SIGPIPE here. memfd_create(2).
    static func input(_ bytes: [UInt8]) throws -> Int32 {
        guard !bytes.isEmpty else {
            let null = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard null >= 0 else { throw TestFailure.syscall("open", "/dev/null") }
            return null
        }
        let file = ctest_memory_file()
        guard file >= 0 else { throw TestFailure.syscall("memfd_create") }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            guard count > 0 else {
                defer { close(file) }
                throw TestFailure.syscall("write")
            }
            written += count
        }
        lseek(file, 0, SEEK_SET)
        return file
    }

    /// Reads until the other side is closed, which a terminal reports as EIO. read(2).
    static func readToEnd(_ descriptor: Int32, _ deliver: ([UInt8]) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 { deliver(Array(buffer[..<count])) }
            if count == 0 || count < 0 && errno != EINTR { return }
        }
    }
}
