import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import cached

@Suite("Loop time slices", .timeLimit(.minutes(5)))
struct LoopTimeSlicesTests {
    @Test func endlessWorkDoesNotKeepTheLoopFromItsSockets() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { close(ends[1]) }
        let work = EndlessWork(on: group.next(), until: ends[1])
        let channel = try await NIOPipeBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ByteReader(work))
                }
            }
            .takingOwnershipOfDescriptor(inputOutput: ends[0]).get()
        #expect(try await work.isByteRead())
        try await channel.close()
        try await group.shutdownGracefully()
    }

    @Test func workIsDoneInTheOrderItWasAdded() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let slices = LoopTimeSlices(loop: group.next())
        let done = group.next().makePromise(of: [Int].self)
        try await group.next().submit {
            var numbers: [Int] = []
            for number in 0..<1000 {
                slices.add {
                    numbers.append(number)
                    if number == 999 { done.succeed(numbers) }
                }
            }
        }.get()
        #expect(try await done.futureResult.get() == Array(0..<1000))
        try await group.shutdownGracefully()
    }
}

/// Work in which each piece adds the next one, until the event loop has read a byte that was sent at its start.
private final class EndlessWork: Sendable {
    private let slices: LoopTimeSlices
    private let loop: any EventLoop
    private let socket: Int32
    private let pieces = Atomic(0)
    private let hasReadByte = Atomic(false)
    private let end: EventLoopPromise<Bool>

    init(on loop: any EventLoop, until socket: Int32) {
        slices = LoopTimeSlices(loop: loop)
        self.loop = loop
        self.socket = socket
        end = loop.makePromise()
    }

    func isByteRead() async throws -> Bool {
        loop.execute {
            write(self.socket, "x", 1)
            self.addNext()
        }
        return try await end.futureResult.get()
    }

    func byteWasRead() {
        hasReadByte.store(true, ordering: .relaxed)
    }

    private func addNext() {
        let isByteRead = hasReadByte.load(ordering: .relaxed)
        guard !isByteRead, pieces.add(1, ordering: .relaxed).newValue < 1_000_000 else {
            return end.succeed(isByteRead)
        }
        slices.add { self.addNext() }
    }
}

private final class ByteReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let work: EndlessWork

    init(_ work: EndlessWork) {
        self.work = work
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        work.byteWasRead()
    }
}
