import ArgumentParser
import NIOCore
import NIOPosix

/// `echo-server`: the cost of a NIO server that does nothing, as a reference.
struct EchoServer: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Echo on a Unix socket with one NIO event loop, until it is killed.")

    @Argument(help: "The path to bind.")
    var socket: String

    func run() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(EchoHandler())
                }
            }
            .bind(unixDomainSocketPath: socket, cleanupExistingSocketFile: true)
            .wait()
        try server.closeFuture.wait()
    }
}

/// Sends back the bytes it reads, so a message ended by NUL returns ended by NUL.
private final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.write(data, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
