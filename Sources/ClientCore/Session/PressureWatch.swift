import CClient

/// Watches the level of memory pressure on a connection of its own. While no daemon answers it is normal.
struct PressureWatch: ~Copyable {
    private(set) var level: Int32 = 0
    private var connection: Connection?
    private var isWatched = false

    /// Whether it waits for a daemon.
    var isAway: Bool { isWatched && connection == nil }

    mutating func start() {
        isWatched = true
    }

    /// Connects if it has to, and takes what has arrived.
    mutating func receive(_ sockets: [[UInt8]], _ epoll: Int32) {
        guard isWatched else { return }
        if connection == nil {
            connection = Connection(sockets)
            guard connection?.send(Calls.watchPressure()) == true else { return lost() }
            if let descriptor = connection?.descriptor { _ = cclient_watch(epoll, descriptor, 0) }
        }
        while true {
            var file: Int32 = -1
            let received = connection?.receive(&file) ?? .end
            if file >= 0 { close(file) }
            guard case .message = received else {
                if case .end = received { lost() }
                return
            }
            let message = connection?.take() ?? []
            guard let reply = message.withUnsafeBytes({ Reply($0) }), reply.continues else {
                return lost()
            }
            level = reply.pressure ?? level
        }
    }

    private mutating func lost() {
        connection = nil
        level = 0
    }
}
