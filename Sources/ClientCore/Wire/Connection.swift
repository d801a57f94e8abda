import CClient

/// A connection to the daemon that never waits. It keeps the bytes that the socket does not take yet.
struct Connection: ~Copyable {
    enum Received {
        case message
        /// No complete message has arrived.
        case nothing
        /// The daemon has closed the connection, or it failed.
        case end
    }

    /// The reason why there is no connection.
    enum Failure: Error {
        case noDaemon
        /// The kernel's queue of clients for the daemon is full. The caller can try again soon.
        case isBusy
    }

    let descriptor: Int32
    private var input = InputBuffer()
    private var output: [UInt8] = []

    /// The longest message that is accepted; the daemon has the same limit.
    private static let longest = 16 << 20
    private static let piece = 64 << 10

    /// Connects to the first of the sockets at which there is a daemon.
    init(_ sockets: [[UInt8]]) throws(Failure) {
        for socket in sockets {
            let path = socket + [0]
            let descriptor = path.withUnsafeBufferPointer { bytes in
                bytes.baseAddress.map { cclient_connect(cString($0)) } ?? -1
            }
            if descriptor >= 0 {
                self.descriptor = descriptor
                return
            }
            if cclient_errno() == EAGAIN { throw .isBusy }
        }
        throw .noDaemon
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

    /// Sends the bytes that were kept. Returns whether the connection still works.
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

    /// Receives until a message is complete or no bytes are left. Stores a descriptor that comes with it.
    mutating func receive(_ file: inout Int32) -> Received {
        while !input.hasMessage() {
            guard input.count < Self.longest else { return .end }
            let socket = self.descriptor
            var descriptor: Int32 = -1
            let count = input.append(room: Self.piece) {
                cclient_receive(socket, $0.baseAddress, $0.count, &descriptor)
            }
            let cause = cclient_errno()
            if descriptor >= 0 {
                if file >= 0 { close(file) }
                file = descriptor
            }
            if count > 0 { continue }
            return count < 0 && cause == EAGAIN ? .nothing : .end
        }
        return .message
    }

    /// Takes the next reply. A message must be complete. `nil` if it is not a reply.
    mutating func take() -> ScannedReply? {
        let reply = input.takeMessage { ScannedReply($0) }
        return reply ?? nil
    }
}
