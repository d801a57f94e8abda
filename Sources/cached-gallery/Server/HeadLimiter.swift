import NIOCore

/// Counts the bytes of a request before the parser gets them, which has no limit for the length of a URL.
final class HeadLimiter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The longest head, in bytes.
    static let limit = 16 << 10
    /// Bytes since the last complete head.
    private var count = 0
    private var isInHead = true
    private let refuse: () -> Void

    /// - Parameter refuse: called when a head is too long.
    init(_ refuse: @escaping () -> Void) {
        self.refuse = refuse
    }

    func headEnded() { isInHead = false }

    func requestEnded() {
        isInHead = true
        count = 0
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isInHead else { return context.fireChannelRead(data) }
        count += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
        if isInHead, count > Self.limit { refuse() }
    }
}
