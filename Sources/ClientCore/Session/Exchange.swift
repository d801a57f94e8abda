import CClient

/// A call with one reply, on a connection of its own. It never waits.
package struct Exchange: ~Copyable {
    package enum Outcome: Sendable {
        /// The reply; a descriptor that came with it, else -1.
        case reply(Reply, file: Int32)
        /// A negative errno.
        case failed(Int32)
    }

    private var connection: Connection
    private var file: Int32 = -1
    private let end: Int64

    /// Milliseconds until the daemon counts as not answering.
    private static let patience: Int64 = 5000

    /// Sends a call to the first of the sockets that answers; `nil` if none does.
    package init?(_ message: [UInt8], _ sockets: [[UInt8]]) {
        guard let connection = Connection(sockets) else { return nil }
        self.connection = connection
        end = cclient_now() + Self.patience
        _ = self.connection.send(message)
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Becomes readable when ``step()`` has something to do.
    package var descriptor: Int32 { connection.descriptor }
    /// Whether the descriptor has to be watched for output, too.
    package var hasOutput: Bool { connection.hasOutput }
    /// Milliseconds until it fails.
    package var timeLeft: Int64 { max(end - cclient_now(), 0) }

    /// Does what can be done now; `nil` if there is no outcome yet. After the outcome it must not be used.
    package mutating func step() -> Outcome? {
        guard connection.flush() else { return .failed(-ECONNRESET) }
        switch connection.receive(&file) {
        case .end: return .failed(-ECONNRESET)
        case .nothing: return timeLeft > 0 ? nil : .failed(-ETIMEDOUT)
        case .message:
            guard let reply = connection.take() else { return .failed(-EBADMSG) }
            let file = file
            self.file = -1
            return .reply(reply, file: file)
        }
    }
}
