import CacheCore
import CacheWire
import Glibc
import Logging
import NIOCore
import NIOPosix

/// Accepts as many clients as there are descriptors for, and leaves enough for the cache's own work: downloads
/// continue however many clients there are. A client for whom there is no seat is told so, and its connection is
/// closed.
///
/// If accepting fails for want of something that is not counted here, such as the descriptors of the whole
/// machine, all clients wait for a short time; most such shortages are short. accept(2).
final class AcceptLimiter: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)
    /// The shortest time between two lines in the log about clients that were refused.
    private static let warningInterval = Duration.seconds(60)

    /// The most clients that one read of the socket accepts. ``ChannelOptions/maxMessagesPerRead``
    static let batch = 16

    private var seats: ConnectionSeats
    private let logger: Logger
    private var lastWarning: [UserID: ContinuousClock.Instant] = [:]
    private var hasWarnedOfErrors = false

    init(_ seats: ConnectionSeats, logger: Logger) {
        self.seats = seats
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        let user = Peer.user(of: Peer(of: channel))
        guard seats.take(user) else { return refuse(channel, user) }
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.seats.leave(user) }
        context.fireChannelRead(data)
    }

    /// Says why the connection closes. The client reads the reply even if the connection is closed before it calls. A
    /// new connection has room for the reply. unix(7)
    private func refuse(_ channel: any Channel, _ user: UserID) {
        warn(of: user)
        let reply = Message.json(WireError.tooManyConnections(limit: seats.limit(of: user))) + [0]
        try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { descriptor in
            _ = send(descriptor, reply, reply.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        channel.close(promise: nil)
    }

    private func warn(of user: UserID) {
        let now = ContinuousClock.now
        if let last = lastWarning[user], now - last < Self.warningInterval { return }
        lastWarning = lastWarning.filter { now - $0.value < Self.warningInterval }
        lastWarning[user] = now
        logger.warning(
            """
            too many connections, further ones of this user are refused; close those that are not needed, \
            or raise the limit of open files
            """,
            metadata: [
                "user": "\(user.rawValue)", "limit": "\(seats.limit(of: user))",
                "connections": "\(seats.count)",
            ])
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
            metadata: ["error": "\(error)", "connections": "\(seats.count)"])
    }

    private func watchSocket(_ isWatched: Bool, _ context: ChannelHandlerContext) {
        // This fails only if the socket is closed, and then there is nothing to watch.
        try? context.channel.syncOptions?.setOption(.autoRead, value: isWatched)
    }
}
