import CacheCore
import CacheWire
import Logging
import NIOCore

/// Ends the daemon once it has been idle for a while: no client is connected, and nothing is being downloaded. With
/// socket activation the next call starts it again.
struct IdleExit: Sendable {
    let server: ServerContext
    let hot: HotLoop
    let limit: Duration
    /// Removes the socket's file.
    let removeSocket: @Sendable () -> Void

    /// Begins to check, on the thread that accepts clients, so that none can be accepted after the last check and
    /// before the end.
    func start() {
        hot.execute { connections in
            if let rest = remaining(connections) {
                server.loop.scheduleTask(in: TimeAmount(rest)) { start() }
            } else {
                server.logger.info(
                    "nothing to do, the daemon ends", metadata: ["after": "\(limit)"])
                HeldSignals.end()
            }
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
