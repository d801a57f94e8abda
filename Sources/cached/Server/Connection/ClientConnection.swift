import CacheCore
import CacheFetching
import CacheWire
import Glibc
import Logging
import NIOCore

/// One client's connection: splits the bytes received into messages and writes the replies in the order of
/// the calls. ``CallDispatcher`` answers the calls. Used on the event loop only.
///
/// Memory stays bounded whatever the client does. The connection reads nothing more while the client does not
/// read its replies, or while a call is running. A message is limited to 16 MiB, and ``ConnectionRegistry``
/// limits what all connections of a user hold together.
final class ClientConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: ServerContext
    let client: ClientID
    /// Whether the calls in `input` wait for the turn of their user.
    private var waitsForTurn = false
    /// The process that connected; `nil` if the kernel does not report it.
    let peer: Peer?
    private(set) lazy var calls = CallDispatcher(for: self, server, client)
    /// `nil` before the channel is active, and once it is closed.
    private(set) var context: ChannelHandlerContext?
    /// Bytes received that no call has consumed yet.
    private var input: ByteBuffer
    /// How many bytes at the start of `input` are known to hold no NUL.
    private var searched = 0
    /// The size of `input` in memory when the registry last counted it.
    private var countedInput = 0
    /// When the client last sent something.
    private var lastReceived = NIODeadline.now()
    /// Replies that are not handed to the channel yet.
    var output: ByteBuffer
    /// The bytes of all replies that were handed to the channel.
    private(set) var sentBytes = 0
    /// How many of them were sent since ``unreadBytes`` was last looked at.
    private var uncheckedBytes = 0
    private var isReadHeld = false
    private var isHalfClosed = false
    private var isClosing = false
    /// Whether `process` is running further up the stack.
    private var isProcessing = false

    /// Bytes reserved in `output` at once: enough for a few items.
    private static let outputReserve = 2048
    /// Bytes of input that may wait while no call can be taken.
    private static let inputAhead = 64 * 1024
    /// Bytes of replies that are gathered before they are handed to the channel.
    private static let outputChunk = 256 * 1024
    /// Bytes of replies after which it is checked whether the client reads them.
    private static let checkedChunk = 16 * 1024

    init(_ server: ServerContext, peer: Peer?, _ connection: ConnectionHandoff) {
        self.server = server
        self.peer = peer
        (input, output) = (connection.received, connection.unsent)
        client = server.registry.nextClient(of: peer)
    }

    /// Calls `body` with the descriptor of an open connection.
    private func withSocket<Result>(_ body: (NIOBSDSocket.Handle) throws -> Result) -> Result? {
        try? context?.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self, body)
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        server.registry.opened(self)
    }

    /// Goes on where the connection was handed over.
    func channelActive(context: ChannelHandlerContext) {
        resume()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        lastReceived = .now()
        if input.readableBytes == 0 {
            input = bytes
        } else {
            input.writeBuffer(&bytes)
        }
        // Flushing must not wait for `channelReadComplete`. The channel also reports that while it handles the
        // end of input; a write that fails there would close the channel in the middle of its own work.
        resume()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return }
        calls.sendUpdates()
        resume()
    }

    /// Holds the read back while the input that is already here cannot be answered.
    func read(context: ChannelHandlerContext) {
        if canRead(context) { context.read() } else { isReadHeld = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        isHalfClosed = true
        closeIfDone()
    }

    func channelInactive(context: ChannelHandlerContext) {
        discardInput()
        server.registry.closed(self)
        server.descriptors.closed(client)
        calls.abandon()
        server.cache.clientLeft(client)
        self.context = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        server.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    // MARK: Input

    /// Takes calls while they can be answered, then hands the replies to the channel.
    func resume() {
        guard !isProcessing else { return flush() }
        let began = NIODeadline.now()
        process(since: began)
        flush()
        server.turns.spend(.now() - began, of: client.user)
    }

    /// The user's turn has come.
    func takeTurn() {
        waitsForTurn = false
        if isOpen { resume() }
    }

    private func process(since began: NIODeadline) {
        isProcessing = true
        defer {
            isProcessing = false
            // A write during this may have closed the connection; then a call begun since ends here.
            if context == nil { calls.abandon() }
        }
        while canTakeCall, hasTurn(since: began), let message = nextMessage() {
            guard message.readableBytes < Message.maximumLength else {
                return refuse(.messageTooLarge(limit: Message.maximumLength))
            }
            if output.readableBytes == 0 { output.reserveCapacity(Self.outputReserve) }
            server.registry.tookCall()
            calls.answer(message)
            if output.readableBytes > Self.outputChunk { flush() }
        }
        if input.readableBytes >= Message.maximumLength, searched >= Message.maximumLength {
            refuse(.messageTooLarge(limit: Message.maximumLength))
        }
        closeIfDone()
        countInput()
    }

    /// Whether the next call can be taken: the client reads its replies, and no call is running. A running
    /// stream is no obstacle, because the next call ends it.
    private var canTakeCall: Bool {
        guard let context, !isClosing, context.channel.isWritable else { return false }
        return calls.canTakeCall && !waitsForTurn
    }

    /// Whether the calls of this user may go on. If not, this connection waits for the user's next turn.
    private func hasTurn(since began: NIODeadline) -> Bool {
        guard input.readableBytes > searched else { return true }
        if server.turns.mayTakeCall(client.user, .now() - began) { return true }
        waitsForTurn = true
        server.turns.wait(self, client)
        return false
    }

    private func canRead(_ context: ChannelHandlerContext) -> Bool {
        canTakeCall || input.readableBytes < Self.inputAhead && !waitsForTurn
    }

    /// The next complete message without its NUL.
    private func nextMessage() -> ByteBuffer? {
        let length: Int? = input.withUnsafeReadableBytes { bytes in
            guard bytes.count > searched, let start = bytes.baseAddress else { return nil }
            guard let end = memchr(start + searched, 0, bytes.count - searched) else { return nil }
            return UnsafeRawPointer(end) - start
        }
        guard let length, let message = input.readSlice(length: length) else {
            searched = input.readableBytes
            // The buffer would grow for ever if every read ended in the middle of a message. And the memory of a
            // long message is freed.
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
        // The message alone keeps the memory.
        if input.readableBytes == 0 { input = ByteBuffer() }
        searched = 0
        return message
    }

    private func discardInput() {
        input = ByteBuffer()
        searched = 0
        countInput()
    }

    private func countInput() {
        guard input.storageCapacity != countedInput else { return }
        countedInput = input.storageCapacity
        server.registry.holdsMore(self)
    }

    // MARK: Memory

    /// What the daemon holds for this client.
    var heldMemory: HeldMemory<ClientConnection>.Share {
        let unread = unreadBytes
        return .init(
            call: calls.heldBytes,
            waiting: input.storageCapacity + (calls.waiting?.bytes ?? 0) + unread,
            read: sentBytes - unread, lastSent: lastReceived.uptimeNanoseconds)
    }

    /// Closes, because the user of this client holds too much memory.
    func giveUp() {
        guard unreadBytes == 0 else { return disconnectWithoutReading() }
        calls.giveUpWaiting()
        let limit = ConnectionRegistry.memoryLimit >> 20
        refuse(
            .invalidMessage(
                reason:
                    "the daemon holds \(limit) MiB for this user: messages that are incomplete or "
                    + "wait, URLs of calls, and unread answers; read those, and send it again"))
    }

    // MARK: Output

    var isOpen: Bool { context != nil }

    /// Whether the client reads its replies.
    var isWritable: Bool { context?.channel.isWritable == true }

    /// Hands the gathered replies to the channel, and reads on if a read was held back.
    func flush() {
        guard let context else { return }
        if output.readableBytes > 0 { write(takeOutput(), to: context) }
        if isReadHeld, canRead(context) {
            isReadHeld = false
            context.read()
        }
    }

    /// Empties `output` first, because a write can lead back to here.
    private func takeOutput() -> ByteBuffer {
        defer { output = ByteBuffer() }
        return output
    }

    /// Adds a reply that is in a buffer of its own. A long one goes to the channel without being copied.
    func send(_ reply: ByteBuffer) {
        guard reply.readableBytes > Self.outputChunk else {
            output.writeImmutableBuffer(reply)
            return
        }
        flush()
        if let context { write(reply, to: context) }
    }

    private func write(_ reply: ByteBuffer, to context: ChannelHandlerContext) {
        sentBytes += reply.readableBytes
        uncheckedBytes += reply.readableBytes
        context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
        guard uncheckedBytes >= Self.checkedChunk else { return }
        uncheckedBytes = 0
        server.registry.holdsMore(self)
    }

    /// Bytes of replies that the system has not taken, because the client does not read.
    var unreadBytes: Int {
        let unread = try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)
        return unread ?? 0
    }

    /// Closes at once. The client has not read its replies, and they take memory that others need.
    func disconnectWithoutReading() {
        guard let context else { return }
        server.logger.notice(
            "a client was disconnected because it does not read its answers",
            metadata: [
                "user": "\(peer.map { "\($0.user)" } ?? "unknown")",
                "process": "\(peer.map { "\($0.process)" } ?? "unknown")",
                "bytes": "\(unreadBytes)",
            ])
        isClosing = true
        context.close(promise: nil)
    }

    /// Sends a reply at once, and calls `onSent` when the system has taken all of it.
    func send(_ reply: ByteBuffer, onSent: @escaping () -> Void) {
        flush()
        guard let context else { return }
        sentBytes += reply.readableBytes
        context.writeAndFlush(wrapOutboundOut(reply)).assumeIsolated().whenSuccess(onSent)
    }

    /// Sends a reply with a descriptor, after all replies before it have been sent. Calls `then` once the reply is on
    /// its way. `refusal` takes its place if other descriptors have to be received first.
    func send(
        _ reply: ByteBuffer, with image: OpenImage,
        orElse refusal: @escaping (DescriptorSender.Obstacle) -> ByteBuffer,
        then: @escaping () -> Void
    ) {
        guard let context else { return }
        context.writeAndFlush(wrapOutboundOut(takeOutput())).assumeIsolated().whenComplete { _ in
            guard self.context != nil else { return }
            let rest = self.withSocket { socket in
                do throws(DescriptorSender.Obstacle) {
                    return try self.server.descriptors.send(
                        reply, with: image, to: self.client, over: socket)
                } catch {
                    return refusal(error)
                }
            }
            if let rest { self.send(rest) }
            then()
        }
    }

    // MARK: The end

    /// Replies with an error and closes, because nothing after it on this connection can be understood.
    func refuse(_ error: WireError) {
        server.replies.write(Reply<NoParameters>(error: error), to: &output)
        close()
    }

    /// Closes once all replies are sent.
    private func close() {
        guard !isClosing, let context else { return }
        isClosing = true
        discardInput()
        calls.abandon()
        context.writeAndFlush(wrapOutboundOut(takeOutput())).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    /// Closes because the daemon stops.
    func shutDown() {
        calls.shutDown()
        close()
    }

    /// Closes if the client has closed its sending side and all its calls are answered. While it does not read
    /// its replies, some calls may still wait in `input`.
    private func closeIfDone() {
        if isHalfClosed, !calls.isRunning, canTakeCall { close() }
    }
}
