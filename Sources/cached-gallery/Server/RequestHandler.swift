import NIOCore
import NIOHTTP1

/// One connection: gathers requests, and writes their responses. Used on the event loop only.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let responder: any Responder
    /// Called when a request is not refused.
    var onAnswer: (() -> Void)?
    private var context: ChannelHandlerContext?
    private(set) lazy var limiter = HeadLimiter { [weak self] in self?.refuse(.headSize) }
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var deadline: IsolatedScheduled?
    private var stream: EventStream?
    /// Of the request that is not answered yet.
    private var asker: Asker?
    /// Whether a response is on its way.
    private var isResponding = false
    private var isClosing = false

    private typealias IsolatedScheduled = Scheduled<Void>

    /// The longest body of a request, in bytes.
    static let bodyLimit = 1 << 20
    /// The time for a complete request, also the first one and after a response.
    private static let patience = TimeAmount.seconds(15)

    init(_ responder: any Responder) {
        self.responder = responder
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        startDeadline()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        deadline?.cancel()
        stream?.ended()
        stream = nil
        asker?.leave()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            limiter.headEnded()
            if let refusal = responder.refusal(of: head) { return refuse(refusal, head) }
            onAnswer?()
            self.head = head
        case .body(var bytes):
            guard head != nil else { return }
            guard body.readableBytes + bytes.readableBytes <= Self.bodyLimit else {
                return refuse(.bodySize)
            }
            body.writeBuffer(&bytes)
        case .end:
            limiter.requestEnded()
            guard let head else { return }
            deadline?.cancel()
            let asker = Asker()
            self.asker = asker
            let request = HTTPRequest(head: head, body: body, asker: asker)
            body = ByteBuffer()
            self.head = nil
            isResponding = true
            responder.respond(to: request) { [self] in write($0, to: head) }
        }
    }

    // MARK: Time

    private func startDeadline() {
        deadline?.cancel()
        deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            [weak self] in self?.close()
        }
    }

    // MARK: Output

    /// Whether the peer reads what was sent.
    var isWritable: Bool { context?.channel.isWritable == true }

    func close() {
        context?.close(promise: nil)
    }

    func send(_ bytes: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
    }

    private func write(_ response: Response, to request: HTTPRequestHead) {
        guard let context, !isClosing else {
            if case .file(let region) = response.body { try? region.fileHandle.close() }
            return
        }
        let head = HTTPResponseHead(
            version: request.version, status: response.status, headers: response.headers)
        asker = nil
        let isHead = request.method == .HEAD
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        switch response.body {
        case .events(let stream) where !isHead:
            self.stream = stream
            context.flush()
            return stream.begin(on: self)
        case .events: break
        case .bytes(let bytes):
            if !isHead, bytes.readableBytes > 0 {
                context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
            }
        case .file(let region):
            if isHead {
                try? region.fileHandle.close()
            } else {
                send(region, context)
            }
        }
        end(context, keepsOpen: request.isKeepAlive)
    }

    private func send(_ region: FileRegion, _ context: ChannelHandlerContext) {
        let written = context.writeAndFlush(wrapOutboundOut(.body(.fileRegion(region))))
        written.assumeIsolated().whenComplete { _ in try? region.fileHandle.close() }
    }

    private func end(_ context: ChannelHandlerContext, keepsOpen: Bool) {
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated()
        if keepsOpen {
            isResponding = false
            written.whenSuccess { [weak self] in self?.startDeadline() }
        } else {
            isClosing = true
            written.whenComplete { [self] _ in closeGently(context) }
        }
    }

    /// Closes without losing the response on its way. If bytes of the request are not read, the kernel would reset the
    /// connection.
    private func closeGently(_ context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { [weak self] in
            self?.close()
        }
    }

    /// Answers with an error, reads no more and closes.
    private func refuse(_ refusal: Refusal, _ head: HTTPRequestHead? = nil) {
        guard !isClosing, !isResponding else { return close() }
        var request =
            head ?? self.head ?? HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        request.headers.replaceOrAdd(name: "Connection", value: "close")
        var response = Response.refusal(refusal)
        response.headers.add(name: "Connection", value: "close")
        write(response, to: request)
    }
}
