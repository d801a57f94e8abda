import NIOCore

/// Reports to the service manager at intervals that the daemon is well, so that it restarts one that hangs.
///
/// Each time both loops, the lock of the cache and the thread of the downloads have to take a turn first. A turn
/// that does not end is not reported.
struct Watchdog: Sendable {
    let manager: ServiceManager
    /// The longest time between two reports.
    let limit: Duration
    /// Calls its argument once all of them have taken a turn.
    let takeTurn: @Sendable (@escaping @Sendable () -> Void) -> Void

    func start(on loop: any EventLoop) {
        loop.scheduleRepeatedTask(initialDelay: .zero, delay: TimeAmount(limit / 2)) { _ in
            takeTurn { manager.isWell() }
        }
    }
}
