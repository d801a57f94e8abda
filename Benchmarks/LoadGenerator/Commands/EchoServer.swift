import ArgumentParser
import NIOCore
import NIOPosix

/// `echo-server`: what a NIO server costs before it does anything, as a reference peer.
struct EchoServer: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Echo on a Unix socket with one NIO event loop, until killed.")

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

/// Sends back what it reads; a message ended by NUL comes back ended by NUL.
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
