import CTestSupport
import Glibc
import Synchronization

/// A raw connection to a Varlink socket: sends any bytes, receives messages. For input that a
/// well-behaved client never sends.
///
///     let connection = try daemon.connect()
///     try await connection.send(#"{"method":"org.varlink.service.GetInfo"}"# + "\0")
///     let reply = try await connection.receiveText()
public final class VarlinkConnection: Sendable {
    private let socket: Socket
    /// Received bytes that are not returned as messages yet.
    private let unread = Mutex<[UInt8]>([])

    /// Connects; the connection is closed when the scope ends.
    public init(_ path: String, in scope: TestScope) throws {
        socket = try Socket.connect(toUnix: path)
        scope.atEnd { [socket] in socket.close() }
    }

    /// Sends these bytes verbatim; no NUL is added.
    ///
    /// - Throws: `TestFailure` if the daemon has closed the connection.
    public func send(_ bytes: [UInt8]) async throws {
        let sent = try await offPool { [socket] in socket.send(bytes) }
        guard sent else { throw TestFailure("the connection was closed while sending") }
    }

    /// Sends text verbatim; no NUL is added.
    public func send(_ text: String) async throws {
        try await send(Array(text.utf8))
    }

    /// Receives the next message, without its NUL; `nil` if the daemon has closed the connection.
    public func receive(within limit: Duration = .patience) async throws -> [UInt8]? {
        try await offPool { [self] in try nextMessage(limit) }
    }

    /// Receives the next message as text; fails if there is none.
    public func receiveText(within limit: Duration = .patience) async throws -> String {
        guard let message = try await receive(within: limit) else {
            throw TestFailure("the connection was closed instead of answered")
        }
        return String(decoding: message, as: UTF8.self)
    }

    /// Sends one message, adding the NUL, and returns the next message received.
    public func call(_ message: String, within limit: Duration = .patience) async throws -> String {
        try await send(message + "\0")
        return try await receiveText(within: limit)
    }

    /// Receives one message, and the contents of the file whose descriptor came with it. No byte of a later message
    /// may have been sent. recvmsg(2).
    public func receiveWithFile(
        within limit: Duration = .patience
    ) async throws -> (text: String, contents: [UInt8]?) {
        try await offPool { [socket] in
            var (text, file): ([UInt8], Int32?) = ([], nil)
            while text.last != 0 {
                guard socket.wait(orInput: true, within: limit) != .timedOut else {
                    throw TestFailure.timedOut("a message", after: limit)
                }
                var buffer = [UInt8](repeating: 0, count: 65536)
                var descriptor: Int32 = -1
                let count = ctest_receive(socket.descriptor, &buffer, buffer.count, &descriptor)
                guard count > 0 else {
                    throw TestFailure("the connection was closed instead of answered")
                }
                text += buffer[..<count]
                if descriptor >= 0 { file = descriptor }
            }
            let bytes = try file.map { file in
                defer { close(file) }
                return try contents(of: "/proc/self/fd/\(file)")
            }
            return (String(decoding: text.dropLast(), as: UTF8.self), bytes)
        }
    }

    /// Waits until the daemon closes the connection, discarding whatever it still sends.
    public func waitForClose(within limit: Duration = .patience) async throws {
        while try await receive(within: limit) != nil {}
    }

    /// Ends both directions, as a client that disconnects does.
    public func shutdown() {
        socket.shutdown()
    }

    /// Ends the sending side only: no more calls will follow. shutdown(2).
    public func endSending() {
        socket.shutdown(sendingOnly: true)
    }

    /// Blocks. A reset counts as a close.
    private func nextMessage(_ limit: Duration) throws -> [UInt8]? {
        let deadline = ContinuousClock.now + limit
        return try unread.withLock { unread in
            var searched = 0
            while true {
                if let end = Self.firstNUL(in: unread, from: searched) {
                    defer { unread.removeFirst(end + 1) }
                    return Array(unread[..<end])
                }
                searched = unread.count
                let left = deadline - ContinuousClock.now
                guard left > .zero, socket.wait(orInput: true, within: left) != .timedOut else {
                    throw TestFailure.timedOut("a message", after: limit)
                }
                guard let bytes = socket.receive(upTo: 1 << 20), !bytes.isEmpty else { return nil }
                unread += bytes
            }
        }
    }

    private static func firstNUL(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, bytes.count > start,
                let end = memchr(base + start, 0, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(end) - base
        }
    }
}
