import ServiceLifecycle

/// Tells the service manager at intervals that the daemon is well, so that it restarts one that hangs.
///
/// Each time the event loop, the lock of the cache and the thread of the downloads have to take a turn first. A turn
/// that does not end is not reported.
struct Watchdog: Service {
    let manager: ServiceManager
    /// The longest time between two reports.
    let limit: Duration
    /// Calls its argument once all of them have taken a turn.
    let takeTurn: @Sendable (@escaping @Sendable () -> Void) -> Void

    func run() async throws {
        // Sleeping fails when the daemon stops. The service manager does not watch it then.
        try? await cancelWhenGracefulShutdown {
            while true {
                takeTurn { manager.isWell() }
                try await Task.sleep(for: limit / 2)
            }
        }
    }
}
