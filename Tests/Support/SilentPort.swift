import Glibc

/// A port that takes no connection and refuses none, as an address behind a firewall does: its queue is full.
public final class SilentPort: Sendable {
    private let listener: Socket
    private let queued: [Socket]

    /// - Parameter host: the last number of the address in 127.0.0.0/24.
    public init(host: UInt8, port: Int, in scope: TestScope) throws {
        let listener = try Socket.listenOnLoopback(host: host, port: port, backlog: 0).socket
        self.listener = listener
        // The queue has room for one.
        queued = try (0..<4).map { _ in try Socket.beginConnecting(toLoopback: port, host: host) }
        scope.atEnd { [self] in
            for socket in self.queued { socket.close() }
            self.listener.close()
        }
    }
}
