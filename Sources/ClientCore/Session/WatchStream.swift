import CClient

/// A `Watch` on a connection of its own. It connects again when the daemon comes back.
struct WatchStream: ~Copyable {
    private let call: [UInt8]
    private var connection: Connection?
    private(set) var isStarted = false

    init(_ call: [UInt8]) {
        self.call = call
    }

    /// Whether the stream waits for a daemon.
    var isAway: Bool { isStarted && connection == nil }

    mutating func start() {
        isStarted = true
    }

    /// Connects if there is no connection. Returns the next reply that has arrived, if any.
    mutating func next(_ sockets: [[UInt8]], _ epoll: Int32) -> ScannedReply? {
        guard isStarted else { return nil }
        if connection == nil {
            connection = try? Connection(sockets)
            guard connection?.send(call) == true else { return lost() }
            if let descriptor = connection?.descriptor { _ = cclient_watch(epoll, descriptor, 0) }
        }
        var file: Int32 = -1
        let received = connection?.receive(&file) ?? .end
        if file >= 0 { close(file) }
        switch received {
        case .nothing: return nil
        case .end: return lost()
        case .message:
            guard let reply = connection?.take(), reply.continues else { return lost() }
            return reply
        }
    }

    private mutating func lost() -> ScannedReply? {
        connection = nil
        return nil
    }
}
