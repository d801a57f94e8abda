import Glibc
import Synchronization

/// A daemon with scripted replies, on a socket in a temporary directory.
///
///     let stub = try StubDaemon(replies: [#"{"parameters":{"stats":{"entries":3}}}"#])
///     let client = try Client(paths: [stub.path])
///
/// It serves connections until it is deallocated.
public final class StubDaemon: Sendable {
    /// Returns the messages to reply to a call, given its JSON; `nil` closes the connection.
    public typealias Script = @Sendable (String) -> [String]?

    /// The path of the socket.
    public let path: String
    private let directory: String
    private let listener: Int32
    private let log = CallLog()

    /// - Parameter files: descriptors that come with each reply.
    public init(with files: [Int32] = [], _ script: @escaping Script) throws(StubError) {
        directory = try Self.directory()
        path = directory + "/cached.sock"
        listener = try Self.listen(at: path, 16)
        let thread = StubThread(listener: listener, files: files) { [log] call in
            log.calls.withLock { $0.append(call) }
            return script(call)
        }
        try thread.start()
    }

    /// Creates a daemon that answers every call with the same messages.
    public convenience init(replies: [String], with files: [Int32] = []) throws(StubError) {
        try self.init(with: files) { _ in replies }
    }

    deinit {
        // This makes accept(2) fail in the thread, which then closes the descriptor.
        shutdown(listener, Int32(SHUT_RDWR))
        unlink(path)
        rmdir(directory)
    }

    /// The JSON of all calls so far.
    public var calls: [String] { log.calls.withLock { $0 } }

    /// A temporary directory for a socket.
    static func directory() throws(StubError) -> String {
        var template = Array("/tmp/cached-stub-XXXXXX\0".utf8CString)
        guard mkdtemp(&template) != nil else { throw StubError(call: "mkdtemp", number: errno) }
        return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Binds the socket and listens. unix(7).
    static func listen(at path: String, _ queue: Int32) throws(StubError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafeBytes(of: &address) { bytes in
            bind(listener, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!, length)
        }
        guard bound == 0, Glibc.listen(listener, queue) == 0 else {
            throw StubError(call: "bind", number: errno)
        }
        return listener
    }
}

/// The received calls, shared by the thread and the test.
private final class CallLog: Sendable {
    let calls = Mutex<[String]>([])
}
