import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import cached

@Suite("Turns", .timeLimit(.minutes(5)))
struct TurnsTests {
    @Test func workThatLeadsToMoreLetsSocketsHaveTheirTurn() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { close(ends[1]) }
        let work = EndlessWork(on: group.next(), until: ends[1])
        let channel = try await NIOPipeBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Listener(work))
                }
            }
            .takingOwnershipOfDescriptor(inputOutput: ends[0]).get()
        #expect(try await work.isHeard())
        try await channel.close()
        try await group.shutdownGracefully()
    }

    @Test func workIsDoneInItsOrder() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let turns = Turns(loop: group.next())
        let done = group.next().makePromise(of: [Int].self)
        try await group.next().submit {
            var numbers: [Int] = []
            for number in 0..<1000 {
                turns.add {
                    numbers.append(number)
                    if number == 999 { done.succeed(numbers) }
                }
            }
        }.get()
        #expect(try await done.futureResult.get() == Array(0..<1000))
        try await group.shutdownGracefully()
    }
}

/// Work each piece of which leads to the next, until a byte is heard that its first piece has sent.
private final class EndlessWork: Sendable {
    private let turns: Turns
    private let loop: any EventLoop
    private let socket: Int32
    private let pieces = Atomic(0)
    private let hasHeard = Atomic(false)
    private let end: EventLoopPromise<Bool>

    init(on loop: any EventLoop, until socket: Int32) {
        turns = Turns(loop: loop)
        self.loop = loop
        self.socket = socket
        end = loop.makePromise()
    }

    func isHeard() async throws -> Bool {
        loop.execute {
            write(self.socket, "x", 1)
            self.goOn()
        }
        return try await end.futureResult.get()
    }

    func heard() {
        hasHeard.store(true, ordering: .relaxed)
    }

    private func goOn() {
        let isHeard = hasHeard.load(ordering: .relaxed)
        guard !isHeard, pieces.add(1, ordering: .relaxed).newValue < 1_000_000 else {
            return end.succeed(isHeard)
        }
        turns.add { self.goOn() }
    }
}

private final class Listener: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let work: EndlessWork

    init(_ work: EndlessWork) {
        self.work = work
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        work.heard()
    }
}
