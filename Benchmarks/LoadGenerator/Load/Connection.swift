import Glibc

/// One connection with at most one question in flight; its owner says when to go on.
///
/// The reply is kept whole from its first byte, in a buffer that doubles when it is full.
struct Connection: ~Copyable {
    let descriptor: Int32
    /// Which question is asked next, or is being asked.
    var requestIndex: Int
    /// When the question in flight was asked, on the monotonic clock.
    private(set) var askedAt: UInt64 = 0
    /// Bytes of the question already written.
    private var sent = 0
    /// Bytes of the reply received so far.
    private var received = 0
    private var buffer: UnsafeMutableRawBufferPointer

    init(_ endpoint: Endpoint, firstRequest: Int) throws {
        descriptor = try endpoint.connect()
        requestIndex = firstRequest
        buffer = .allocate(byteCount: 1 << 16, alignment: 16)
    }

    deinit {
        buffer.deallocate()
        close(descriptor)
    }

    /// What has come of the question so far, from the first byte of the reply.
    var reply: UnsafeRawBufferPointer {
        @inline(__always) get { UnsafeRawBufferPointer(rebasing: buffer[..<received]) }
    }

    /// Starts a question; ``write(_:)`` sends it.
    @inline(__always)
    mutating func ask(at now: UInt64) {
        askedAt = now
        sent = 0
        received = 0
    }

    /// Whether nothing is left to send.
    @inline(__always)
    func isSent(_ question: UnsafeRawBufferPointer) -> Bool { sent == question.count }

    /// Sends what is left of the question, as far as the socket takes it.
    ///
    /// - Returns: whether all of it is sent. send(2).
    @inline(__always)
    mutating func write(_ question: UnsafeRawBufferPointer) throws -> Bool {
        while sent < question.count {
            let count = send(
                descriptor, question.baseAddress! + sent, question.count - sent,
                Int32(MSG_NOSIGNAL))
            if count < 0 {
                if errno == EAGAIN { return false }
                if errno == EINTR { continue }
                throw BenchFailure("send", errno: errno)
            }
            sent += count
        }
        return true
    }

    /// Reads once what has arrived.
    ///
    /// - Returns: whether there was anything. recv(2).
    @inline(__always)
    mutating func read() throws -> Bool {
        if received == buffer.count { grow() }
        let count = recv(descriptor, buffer.baseAddress! + received, buffer.count - received, 0)
        if count < 0 {
            if errno == EAGAIN || errno == EINTR { return false }
            throw BenchFailure("recv", errno: errno)
        }
        guard count > 0 else { throw BenchFailure("the server closed the connection") }
        received += count
        return true
    }

    private mutating func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: buffer.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
        buffer.deallocate()
        buffer = larger
    }
}
