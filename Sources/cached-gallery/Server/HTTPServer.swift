import NIOCore
import NIOHTTP1
import NIOPosix

/// Listens on 127.0.0.1, for a limited number of connections. Used on the event loop only.
///
/// A new connection takes the place of one that has sent no request that is answered. So programs that do not know the
/// secret of the page cannot keep those away that do.
final class HTTPServer {
    private let loop: any EventLoop
    private let limit: Int
    private var connections = 0
    /// The connections that have sent no request that is answered, the first one first.
    private var strangers: [RequestHandler] = []
    private var channel: (any Channel)?

    /// - Parameter limit: the greatest number of connections.
    init(on loop: any EventLoop, limit: Int) {
        self.loop = loop
        self.limit = limit
    }

    /// Binds a port, a free one for 0. `responder` gets the port and returns what answers requests.
    func listen(
        port: Int, _ responder: @escaping (Int) -> any Responder,
        _ then: @escaping (Result<Int, any Error>) -> Void
    ) {
        let server = NIOLoopBound(self, eventLoop: loop)
        let answerer = NIOLoopBoundBox<(any Responder)?>(nil, eventLoop: loop)
        ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 512)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.tcpOption(Self.userTimeout), value: 30_000)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 1 << 18, high: 1 << 22))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let responder = answerer.value else {
                        throw ChannelError.ioOnClosedChannel
                    }
                    try server.value.accept(channel, responder)
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .assumeIsolated().whenComplete { [self] result in
                then(
                    result.map { channel in
                        self.channel = channel
                        let port = channel.localAddress?.port ?? port
                        answerer.value = responder(port)
                        return port
                    })
            }
    }

    func close(_ then: @escaping () -> Void) {
        guard let channel else { return then() }
        channel.close().assumeIsolated().whenComplete { _ in then() }
    }

    /// A peer that takes no bytes for 30 seconds is disconnected by the kernel. tcp(7), `TCP_USER_TIMEOUT`.
    private static let userTimeout = NIOBSDSocket.Option(rawValue: 18)

    private func accept(_ channel: any Channel, _ responder: any Responder) throws {
        if connections >= limit {
            guard let stranger = strangers.first else { throw ChannelError.ioOnClosedChannel }
            forget(stranger)
            stranger.close()
        }
        connections += 1
        let handler = RequestHandler(responder)
        strangers.append(handler)
        handler.onAnswer = { [weak self, weak handler] in handler.map { self?.forget($0) } }
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in
            connections -= 1
            forget(handler)
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(handler.limiter)
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true, withErrorHandling: true,
            withOutboundHeaderValidation: true, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: Self.headLimits)
        try pipeline.addHandler(handler)
    }

    private func forget(_ stranger: RequestHandler) {
        strangers.removeAll { $0 === stranger }
    }

    private static var headLimits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = HeadLimiter.limit
        limits.maxHeaderListSize = HeadLimiter.limit
        limits.maxHeaderFieldCount = 64
        return limits
    }
}
