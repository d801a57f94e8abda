import Logging
import NIOCore

/// Accepts as many clients as there are descriptors for, and leaves enough for the cache's own work: downloads
/// continue however many clients there are. Further clients wait in the socket's queue until a connection
/// closes. listen(2).
///
/// If accepting fails for want of something that is not counted here, such as the descriptors of the whole
/// machine, all clients wait for a short time; most such shortages are short. accept(2).
final class AcceptLimiter: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    /// The most clients that one read of the socket accepts. ``ChannelOptions/maxMessagesPerRead``
    static let batch = 16

    /// The most connections at once. One batch more can be accepted.
    private let limit: Int
    private let logger: Logger
    private var connections = 0
    private var isReadHeld = false
    private var hasWarnedOfLimit = false
    private var hasWarnedOfErrors = false

    init(limit: Int, logger: Logger) {
        self.limit = limit
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connections += 1
        unwrapInboundIn(data).closeFuture.assumeIsolated().whenComplete { _ in
            self.connectionClosed(context)
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard connections >= limit else { return context.read() }
        isReadHeld = true
        guard !hasWarnedOfLimit else { return }
        hasWarnedOfLimit = true
        logger.warning(
            "too many connections, further clients wait; raise the limit of open files",
            metadata: ["connections": "\(connections)"])
    }

    private func connectionClosed(_ context: ChannelHandlerContext) {
        connections -= 1
        guard isReadHeld, connections < limit else { return }
        isReadHeld = false
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError else { return context.fireErrorCaught(error) }
        // Without this the event loop would spin: the socket stays readable as long as a client waits.
        watchSocket(false, context)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.watchSocket(true, context)
        }
        guard !hasWarnedOfErrors else { return }
        hasWarnedOfErrors = true
        logger.warning(
            "cannot accept clients for now, they wait; check the limits of open files",
            metadata: ["error": "\(error)", "connections": "\(connections)"])
    }

    private func watchSocket(_ isWatched: Bool, _ context: ChannelHandlerContext) {
        // This fails only if the socket is closed, and then there is nothing to watch.
        try? context.channel.syncOptions?.setOption(.autoRead, value: isWatched)
    }
}
