import CTestSupport
import Glibc

/// A daemon that accepts no client, and has as many clients in its queue as the kernel permits.
public final class BusyDaemon {
    /// The path of the socket.
    public let path: String
    private let directory: String
    private let listener: Int32
    private let client: Int32

    public init() throws(StubError) {
        directory = try StubDaemon.directory()
        path = directory + "/cached.sock"
        // A queue of 0 has room for one client. listen(2)
        listener = try StubDaemon.listen(at: path, 0)
        client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutableBytes(of: &address) { bytes in
            let name = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            getsockname(listener, name, &length)
            return connect(client, name, length)
        }
        guard result == 0 else { throw StubError(call: "connect", number: errno) }
    }

    deinit {
        close(client)
        close(listener)
        unlink(path)
        rmdir(directory)
    }

    /// Accepts the client that waits, or the next one, and ends its connection. Returns what the client has sent.
    @discardableResult
    public func dismiss() -> String {
        let connection = ctest_accept(listener)
        defer { close(connection) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
