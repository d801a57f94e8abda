import Glibc
import TestSupport

/// A connection to a port of 127.0.0.1 that sends bytes as they are, also such as no browser sends.
struct WebConnection: Sendable {
    private let descriptor: Int32

    /// Connects. It is closed when the scope ends. connect(2).
    init(port: Int, in scope: TestScope) throws {
        let descriptor = try Self.connect(port)
        self.descriptor = descriptor
        scope.atEnd { close(descriptor) }
    }

    static func connect(_ port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestFailure("socket failed: errno \(errno)") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafeBytes(of: &address) { bytes in
            Glibc.connect(
                descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!,
                socklen_t(bytes.count))
        }
        guard result == 0 else {
            defer { close(descriptor) }
            throw TestFailure("connect failed: errno \(errno)")
        }
        return descriptor
    }

    /// Sends text, and returns what comes until the peer closes.
    static func exchange(_ descriptor: Int32, _ bytes: [UInt8]) -> [UInt8] {
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(
                    descriptor, $0.baseAddress! + sent, $0.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return answer }
            answer += buffer[..<count]
        }
    }

    /// Whether the peer closes within a time. poll(2).
    func isClosed(within limit: Duration) async throws -> Bool {
        try await offPool {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let (seconds, attoseconds) = limit.components
            let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
            guard poll(&entry, 1, Int32(milliseconds)) == 1 else { return false }
            var byte: UInt8 = 0
            return recv(descriptor, &byte, 1, 0) <= 0
        }
    }
}
