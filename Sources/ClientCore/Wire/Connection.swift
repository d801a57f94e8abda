import CClient

/// A connection to the daemon that never waits: bytes that the socket does not take yet are kept.
struct Connection: ~Copyable {
    enum Received {
        case message
        /// Nothing is here now.
        case nothing
        /// The daemon has closed the connection, or it failed.
        case end
    }

    let descriptor: Int32
    private var input: [UInt8] = []
    /// The bytes of `input` that were taken.
    private var start = 0
    private var output: [UInt8] = []

    /// The longest message that is accepted; the daemon has the same limit.
    private static let longest = 16 << 20
    private static let piece = 64 << 10

    /// Connects to the first of the sockets that answers; `nil` if none does.
    init?(_ sockets: [[UInt8]]) {
        for socket in sockets {
            let path = socket + [0]
            let descriptor = path.withUnsafeBufferPointer { bytes in
                bytes.baseAddress.map { cclient_connect(cString($0)) } ?? -1
            }
            if descriptor >= 0 {
                self.descriptor = descriptor
                return
            }
        }
        return nil
    }

    deinit {
        close(descriptor)
    }

    /// Whether bytes wait to be sent.
    var hasOutput: Bool { !output.isEmpty }

    // MARK: Sending

    /// Sends a message, or keeps the rest of it. Returns whether the connection still works.
    mutating func send(_ message: [UInt8]) -> Bool {
        output += message
        return flush()
    }

    /// Sends what was kept. Returns whether the connection still works.
    mutating func flush() -> Bool {
        while !output.isEmpty {
            let count = output.withUnsafeBytes {
                cclient_send(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 { return cclient_errno() == EAGAIN }
            output.removeFirst(count)
        }
        return true
    }

    // MARK: Receiving

    /// Receives until a message is complete or nothing is here. A descriptor that comes with it is stored.
    mutating func receive(_ file: inout Int32) -> Received {
        var searched = start
        while true {
            if input[searched...].contains(0) { return .message }
            searched = input.count
            guard input.count - start < Self.longest else { return .end }
            var descriptor: Int32 = -1
            var cause: Int32 = 0
            let count = withUnsafeTemporaryAllocation(byteCount: Self.piece, alignment: 1) {
                let count = cclient_receive(self.descriptor, $0.baseAddress, $0.count, &descriptor)
                cause = cclient_errno()
                input.append(contentsOf: $0.prefix(max(count, 0)))
                return count
            }
            if descriptor >= 0 {
                if file >= 0 { close(file) }
                file = descriptor
            }
            if count > 0 { continue }
            return count < 0 && cause == EAGAIN ? .nothing : .end
        }
    }

    /// Takes the next message, without its NUL. One must be complete.
    mutating func take() -> [UInt8] {
        let end = input[start...].firstIndex(of: 0) ?? input.endIndex
        let message = Array(input[start..<end])
        start = end + 1
        if start >= input.count {
            input.removeAll(keepingCapacity: input.count <= 4 * Self.piece)
            start = 0
        } else if start > input.count / 2 {
            input.removeFirst(start)
            start = 0
        }
        return message
    }
}
