import CacheWire
import ClientCore
import Glibc
import NIOCore
import NIOPosix

/// A connection to the daemon. The replies come in the order of the calls. Used on the event loop only.
final class DaemonConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var channel: (any Channel)?
    private var input = InputBuffer()
    /// Takes the replies to each call that is not answered completely.
    private var callers = CircularBuffer<(CallResult) -> Void>()
    /// Called once, when the connection has ended.
    var onEnd: (() -> Void)?

    /// How often and after which pause a busy daemon is tried again.
    private static let attempts = 100
    private static let pause = TimeAmount.milliseconds(50)

    /// Connects to the first socket that answers; `nil` if none does.
    static func connect(
        to paths: ArraySlice<String>, on loop: any EventLoop, attempts: Int = attempts,
        _ then: @escaping (DaemonConnection?) -> Void
    ) {
        guard let path = paths.first else { return then(nil) }
        let bootstrap = ClientBootstrap(group: loop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(DaemonConnection())
            }
        }
        bootstrap.connect(unixDomainSocketPath: path).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel):
                then(try? channel.pipeline.syncOperations.handler(type: DaemonConnection.self))
            // A daemon runs, and too many clients wait for it. The next socket may be another daemon's. connect(2)
            case .failure(let error as IOError) where error.errnoCode == EAGAIN:
                guard attempts > 0 else { return then(nil) }
                loop.assumeIsolated().scheduleTask(in: pause) {
                    connect(to: paths, on: loop, attempts: attempts - 1, then)
                }
            case .failure: connect(to: paths.dropFirst(), on: loop, then)
            }
        }
    }

    /// Makes a call. `onReply` gets each reply, or a failure at the end.
    func call<M: Method>(
        _: M.Type, _ parameters: M.Parameters, more: Bool = false,
        _ onReply: @escaping (CallResult) -> Void
    ) {
        guard let channel else { return onReply(.failure(.away)) }
        callers.append(onReply)
        let call = Call(M.name, parameters: parameters, more: more ? true : nil)
        channel.writeAndFlush(ByteBuffer(bytes: Message.encode(call)), promise: nil)
    }

    func close() {
        channel?.close(promise: nil)
    }

    // MARK: Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        channel = context.channel
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        _ = input.append(room: bytes.readableBytes) { room in
            bytes.withUnsafeReadableBytes { room.copyMemory(from: $0) }
            return bytes.readableBytes
        }
        while let message = input.takeMessage({ DaemonReply($0) }) {
            guard let reply = message, let caller = callers.first else {
                return context.close(promise: nil)
            }
            if !reply.continues { callers.removeFirst() }
            caller(reply.error.map { .failure(.refused($0)) } ?? .success(reply))
        }
        if input.count > Message.maximumLength { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        channel = nil
        let callers = callers
        self.callers.removeAll()
        for caller in callers { caller(.failure(.away)) }
        onEnd?()
        onEnd = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
