/// Watches the level of memory pressure. The level is normal while no daemon answers.
struct PressureWatch: ~Copyable {
    private(set) var level: Int32 = 0
    private var subscription = WatchStream(Calls.watchPressure())

    /// Whether the watch waits for a daemon.
    var isAway: Bool { subscription.isAway }

    mutating func start() {
        subscription.start()
    }

    /// Takes the levels that have arrived.
    mutating func receive(_ sockets: [[UInt8]], _ epoll: Int32) {
        while next(sockets, epoll) != nil {}
    }

    /// The next level that has arrived; `nil` if there is none now.
    mutating func next(_ sockets: [[UInt8]], _ epoll: Int32) -> Int32? {
        while let reply = subscription.next(sockets, epoll) {
            guard let next = reply.pressure else { continue }
            level = next
            return next
        }
        if subscription.isAway { level = 0 }
        return nil
    }
}
