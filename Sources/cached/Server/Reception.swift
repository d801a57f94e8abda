import Logging
import NIOCore

/// Lets in as many clients as there are descriptors for, those left out that the cache's own work may
/// need: downloads go on however many clients there are. Who comes beyond that waits in the socket's
/// queue until somebody leaves. listen(2).
final class Reception: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = any Channel

    /// Connections at once, at most; up to 16 more may be let in by one turn.
    private let limit: Int
    private let logger: Logger
    private var connections = 0
    private var isReadHeld = false
    private var hasWarned = false

    init(limit: Int, logger: Logger) {
        self.limit = limit
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connections += 1
        unwrapInboundIn(data).closeFuture.assumeIsolated().whenComplete { _ in
            self.left(context)
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard connections >= limit else { return context.read() }
        isReadHeld = true
        guard !hasWarned else { return }
        hasWarned = true
        logger.warning(
            "too many connections, others wait; raise the limit of open files",
            metadata: ["connections": "\(connections)"])
    }

    private func left(_ context: ChannelHandlerContext) {
        connections -= 1
        guard isReadHeld, connections < limit else { return }
        isReadHeld = false
        context.read()
    }
}
