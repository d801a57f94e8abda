import Logging
import NIOCore

/// Lets in as many clients as there are descriptors for, those left out that the cache's own work may
/// need: downloads go on however many clients there are. Who comes beyond that waits in the socket's
/// queue until somebody leaves. listen(2).
///
/// Where one can't be let in for want of what is not counted here, as of the whole machine's descriptors, all
/// wait for a moment: most such wants are short. accept(2).
final class Reception: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    /// How many are let in by one turn, at most. ``ChannelOptions/maxMessagesPerRead``
    static let turn = 16

    /// Connections at once, at most; by one turn more may be let in.
    private let limit: Int
    private let logger: Logger
    private var connections = 0
    private var isReadHeld = false
    private var hasWarned = false
    private var hasWarnedOfErrors = false

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

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError else { return context.fireErrorCaught(error) }
        // Not to read is not enough: the socket would go on saying that somebody waits.
        watchSocket(false, context)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.watchSocket(true, context)
        }
        guard !hasWarnedOfErrors else { return }
        hasWarnedOfErrors = true
        logger.warning(
            "clients can't be let in for now and wait; see the limits of open files",
            metadata: ["error": "\(error)", "connections": "\(connections)"])
    }

    private func watchSocket(_ isWatched: Bool, _ context: ChannelHandlerContext) {
        // It fails where the socket is closed, and then there is nothing to watch.
        try? context.channel.syncOptions?.setOption(.autoRead, value: isWatched)
    }
}
