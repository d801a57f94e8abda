import CacheCore
import NIOCore

/// Ends the daemon once it has been idle for a while: no client is connected, and nothing is being downloaded. With
/// socket activation the next call starts it again.
struct IdleExit: Sendable {
    let server: ServerContext
    let limit: Duration
    /// Stops listening. Called on the event loop, which also accepts clients, so none can be accepted after the check
    /// and before this.
    let stopListening: @Sendable () -> Void

    /// Returns once the daemon no longer listens; throws if the task is cancelled.
    func wait() async throws {
        while let rest = try await server.loop.submit({ remaining() }).get() {
            try await Task.sleep(for: rest)
        }
    }

    /// The time until the next check. If the daemon is idle, stops listening and returns `nil`.
    private func remaining() -> Duration? {
        guard let begin = server.registry.quietSince else { return limit }
        let rest = limit - begin.duration(to: .now)
        guard rest <= .zero else { return rest }
        guard server.cache.isIdle else { return limit }
        stopListening()
        return nil
    }
}
