import CacheCore
import NIOCore

/// Ends the daemon once it has been idle for a while: no client is connected, and nothing is being downloaded. With
/// socket activation the next call starts it again.
struct IdleExit: Sendable {
    let server: ServerContext
    let hot: HotLoop
    let limit: Duration
    /// Removes the socket's file.
    let removeSocket: @Sendable () -> Void

    /// Returns once the daemon no longer listens; throws if the task is cancelled.
    func wait() async throws {
        // On the thread that accepts clients, so that none can be accepted after the check and before the end.
        while let rest = await hot.run({ remaining($0) }) {
            try await Task.sleep(for: rest)
        }
    }

    /// The time until the next check. If the daemon is idle, stops listening and returns `nil`.
    private func remaining(_ connections: HotConnections) -> Duration? {
        guard let begin = server.connections.quietSince else { return limit }
        let rest = limit - begin.duration(to: .now)
        guard rest <= .zero else { return rest }
        guard server.cache.isIdle else { return limit }
        removeSocket()
        connections.stopListening()
        return nil
    }
}
