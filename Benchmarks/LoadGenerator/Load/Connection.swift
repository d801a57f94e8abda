import Glibc

/// One connection with at most one request in flight; its owner drives it.
///
/// The whole reply is kept, in a buffer that doubles when it is full.
struct Connection: ~Copyable {
    let descriptor: Int32
    /// The index of the next request, or of the one in flight.
    var requestIndex: Int
    /// When the request in flight was sent, on the monotonic clock.
    private(set) var askedAt: UInt64 = 0
    /// Bytes of the request already written.
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

    /// The part of the reply received so far.
    var reply: UnsafeRawBufferPointer {
        @inline(__always) get { UnsafeRawBufferPointer(rebasing: buffer[..<received]) }
    }

    /// Starts a request; ``write(_:)`` sends it.
    @inline(__always)
    mutating func ask(at now: UInt64) {
        askedAt = now
        sent = 0
        received = 0
    }

    /// Whether the whole request is sent.
    @inline(__always)
    func isSent(_ question: UnsafeRawBufferPointer) -> Bool { sent == question.count }

    /// Sends the rest of the request, as far as the socket accepts it.
    ///
    /// - Returns: whether the whole request is sent. send(2).
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

    /// Reads once the data that has arrived.
    ///
    /// - Returns: whether there was any. recv(2).
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
