import CacheCore
import CacheKey
import CacheWire
import Glibc
import Logging
import NIOCore

/// One client: cuts its bytes into calls, answers them in order. Lives on the event loop.
///
/// Memory stays bounded whatever the client does: while answers are not taken, or a call is running,
/// nothing further is read; a message may have 16 MiB, and the hub bounds those that are not whole.
final class Connection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let desk: Desk
    /// Who it is to the cache, which shares downloads out between clients fairly.
    let client: ClientID
    var context: ChannelHandlerContext?
    /// Bytes received and not yet taken as calls.
    private var input = ByteBuffer()
    /// Of these, bytes known to hold no NUL.
    private var searched = 0
    /// The hub knows of a message here that is not whole.
    private var isHalfNoted = false
    /// Answers made and not yet handed to the channel.
    var output = ByteBuffer()
    /// Room made for the next answers at once: enough for a few items.
    private static let outputRoom = 2048
    /// The call that is not answered to its end.
    var running: RunningCall?
    /// What this connection is told about. Outlives its call for as long as that is being replaced.
    var subscription: Subscription?
    /// A reply of the running stream is not taken yet.
    var isTelling = false
    private var isReadHeld = false
    private var isHalfClosed = false
    private var isClosing = false
    /// Whether calls are being taken right now, further up the stack.
    private var isProcessing = false

    /// Input that may wait while nothing can be answered.
    private static let inputAhead = 64 * 1024
    /// Answers gathered before they are handed on.
    private static let outputChunk = 256 * 1024

    init(desk: Desk, client: ClientID) {
        self.desk = desk
        self.client = client
    }

    // MARK: From the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        desk.hub.opened(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 {
            input = bytes
        } else {
            input.writeBuffer(&bytes)
        }
        process()
        // Not as late as at the end of reading: the channel reports that in the midst of dealing with the end
        // of input too, where an answer that can't be sent would close it under its own hands.
        flush()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return }
        tellMore()
        process()
        flush()
    }

    /// Reading is asked for here; it is held back while what is there already can't be answered.
    func read(context: ChannelHandlerContext) {
        if mayRead(context) { context.read() } else { isReadHeld = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        isHalfClosed = true
        closeIfDone()
    }

    func channelInactive(context: ChannelHandlerContext) {
        input = ByteBuffer()
        searched = 0
        noteHalfMessage()
        desk.hub.closed(self)
        endCall()
        self.context = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        desk.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    // MARK: Calls in, answers out

    /// Takes calls while they can be answered.
    func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer {
            isProcessing = false
            // Telling what was still untold may show that nobody is there; a call begun then ends here.
            if context == nil { endCall() }
        }
        while mayAnswer, let message = nextMessage() {
            guard message.readableBytes < Message.maximumLength else {
                return refuse(.messageTooLarge(limit: Message.maximumLength))
            }
            if output.readableBytes == 0 { output.reserveCapacity(Self.outputRoom) }
            if isLong(message) {
                answerElsewhere(message)
            } else {
                message.withUnsafeReadableBytes { answer($0) }
            }
            if output.readableBytes > Self.outputChunk { flush() }
        }
        if input.readableBytes >= Message.maximumLength, searched >= Message.maximumLength {
            refuse(.messageTooLarge(limit: Message.maximumLength))
        }
        closeIfDone()
        noteHalfMessage()
    }

    /// Has the hub know how much of a message waits for its rest; little goes unnoted.
    private func noteHalfMessage() {
        let half = searched > Self.inputAhead ? searched : 0
        guard half > 0 || isHalfNoted else { return }
        isHalfNoted = half > 0
        desk.hub.waitsForRest(self, of: half)
    }

    /// The rest did not come, and others need the memory.
    func giveUpMessage() {
        refuse(
            .invalidMessage(
                reason: "its end did not come while others sent \(Hub.halfMessagesLimit) bytes"))
    }

    /// Whether the next call may be taken: answers are being read, and no call stands in the way. A
    /// stream does not: the next call ends it.
    private var mayAnswer: Bool {
        guard let context, !isClosing, context.channel.isWritable else { return false }
        return running?.isStream ?? true
    }

    private func mayRead(_ context: ChannelHandlerContext) -> Bool {
        mayAnswer || input.readableBytes < Self.inputAhead
    }

    /// The next whole message without its NUL.
    private func nextMessage() -> ByteBuffer? {
        let length: Int? = input.withUnsafeReadableBytes { bytes in
            guard bytes.count > searched, let start = bytes.baseAddress else { return nil }
            guard let end = memchr(start + searched, 0, bytes.count - searched) else { return nil }
            return UnsafeRawPointer(end) - start
        }
        guard let length, let message = input.readSlice(length: length) else {
            searched = input.readableBytes
            // A client that never sends a last byte with its last message would make it grow for ever, and
            // what a long one took is given back.
            if searched == 0 {
                input = ByteBuffer()
            } else if input.readerIndex > Self.inputAhead {
                input = ByteBuffer(buffer: input)
            } else {
                input.discardReadBytes()
            }
            return nil
        }
        input.moveReaderIndex(forwardBy: 1)
        searched = 0
        return message
    }

    /// Hands gathered answers to the channel, and reads on if that was held back.
    func flush() {
        guard let context else { return }
        if output.readableBytes > 0 {
            context.writeAndFlush(wrapOutboundOut(takeOutput()), promise: nil)
        }
        if isReadHeld, mayRead(context) {
            isReadHeld = false
            context.read()
        }
    }

    /// The answers gathered, which are no longer here: to write them may lead back to where they are written.
    private func takeOutput() -> ByteBuffer {
        defer { output = ByteBuffer() }
        return output
    }

    /// Hands on a reply that was made elsewhere, behind those gathered here.
    func send(_ reply: ByteBuffer) {
        guard reply.readableBytes > Self.outputChunk else {
            output.writeImmutableBuffer(reply)
            return
        }
        flush()
        context?.writeAndFlush(wrapOutboundOut(reply), promise: nil)
    }

    /// Answers with an error and closes: what follows on this connection can't be understood.
    func refuse(_ error: WireError) {
        desk.replies.write(Reply<NoParameters>(error: error), to: &output)
        close()
    }

    /// Closes once all answers are sent.
    func close() {
        guard !isClosing, let context else { return }
        isClosing = true
        input = ByteBuffer()
        searched = 0
        noteHalfMessage()
        endCall()
        context.writeAndFlush(wrapOutboundOut(takeOutput())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    /// The daemon ends.
    func shutDown() {
        switch running {
        case .watch, .work(hearsOfEnd: true):
            desk.replies.write(Reply<NoParameters>(error: .shuttingDown), to: &output)
            running = nil
        default: break
        }
        close()
    }

    /// A client that has shut its side down is done when its calls are answered. While answers are not
    /// taken, some of them may still wait.
    private func closeIfDone() {
        if isHalfClosed, running == nil, mayAnswer { close() }
    }

    /// The running call is answered; whatever waits behind it is taken up.
    func finished() {
        running = nil
        process()
        flush()
    }
}
