import CacheCore
import CacheValues
import Logging
import NIOCore
import NIOPosix

/// A connection that ``HotConnections`` passes to the event loop.
struct ConnectionHandoff: Sendable {
    let socket: Int32
    let user: UserID
    /// Bytes that the client has sent and the loop has not answered.
    let received: ByteBuffer
    /// Bytes that the client has to receive before any other answer.
    let unsent: ByteBuffer
}

extension ServerContext {
    /// Serves a connection on the event loop until it closes. Any thread can call it.
    func adopt(_ connection: ConnectionHandoff) {
        ClientBootstrap(group: loop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.writeBufferWaterMark, value: .init(low: 64 * 1024, high: 1024 * 1024))
            .channelInitializer { channel in
                channel.closeFuture.whenComplete { _ in connections.leave(connection.user) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ClientConnection(self, peer: Peer(of: channel, home: home), connection))
                }
            }
            .withConnectedSocket(connection.socket)
            .whenFailure { logger.debug("connection failed", metadata: ["error": "\($0)"]) }
    }
}
