import CLinux
import CacheCore
import CacheWire
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The socket and everything behind it, as one service: binds, serves, drains.
///
/// The socket is bound before the directory is scanned, and taken over only after the directory's lock
/// is held, so that two daemons can't both believe to be the one.
final class SocketServer: Service {
    private let cache: Cache
    /// Watches for memory pressure while the cache runs.
    let pressure: PressureMonitor
    private let relief: PressureRelief
    private let socket: ListeningSocket
    private let settings: Settings
    private let logger: Logger
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let pool = NIOThreadPool(numberOfThreads: 2)
    private let pager = NIOThreadPool(numberOfThreads: 1)
    /// For the end: the others may be busy with long lists, and there may be no thread to be had then.
    private let drainer = NIOThreadPool(numberOfThreads: 1)

    /// How long answers may take to reach their readers at the end.
    private static let patience = TimeAmount.milliseconds(300)

    init(_ settings: Settings, logger: Logger) throws(StartFailure) {
        self.settings = settings
        self.logger = logger
        do {
            cache = try Cache(settings.cache, logger: logger)
        } catch {
            throw StartFailure(error)
        }
        let relief = PressureRelief(settings.pressure, logger: logger) { [cache] in
            cache.relieve($0, completion: $1)
        }
        self.relief = relief
        pressure = PressureMonitor(
            settings.pressure, choice: .ofProcess(try Environment.all()), logger: logger
        ) { level, source in relief.reactAndWait(level, source: source) }
        socket = try ListeningSocket(path: settings.socket, mode: settings.socketMode)
    }

    func run() async throws {
        let loop = group.next()
        let hub = Hub(loop: loop)
        let desk = desk(hub)
        try await loop.submit { hub.serve(desk.cache, desk.replies) }.get()
        pool.start()
        pager.start()
        drainer.start()
        let listener = try await listen(desk)
        socket.isListening()
        // Signals are taken by now. One that came when there was only the socket's name ends it in order, too.
        clinux_raise_remembered_end()
        cache.start(observer: hub)
        pressure.start()
        logger.info(
            "listening",
            metadata: ["socket": "\(settings.socket)", "directory": "\(settings.cache.directory)"])
        // It throws only when the task is cancelled, which is the end just the same.
        try? await gracefulShutdown()
        try await drain(listener, hub, loop)
        logger.info("stopped")
    }

    /// Takes over what can change while the daemon runs: the limits.
    func apply(_ settings: Settings) throws(StartFailure) {
        do {
            try cache.apply(settings.cache.limits)
        } catch {
            throw StartFailure(error)
        }
    }

    private func desk(_ hub: Hub) -> Desk {
        Desk(
            cache: cache,
            replies: ReplyWriter(items: ItemWriter(directory: settings.cache.directory)),
            hub: hub, pool: pool, pager: pager, logger: logger, pressure: pressure, relief: relief,
            facts: DaemonFacts(
                directory: settings.cache.directory, socket: socket.absolutePath,
                curlVersion: Cache.curlVersion, startedAt: .now))
    }

    private func listen(_ desk: Desk) async throws -> any Channel {
        do {
            return try await bootstrap(desk).withBoundSocket(socket.descriptor).get()
        } catch {
            throw StartFailure(
                message:
                    "cannot listen at the socket \(settings.socket) (\(error)); choose another "
                    + "with --socket",
                exitCode: .cannotCreate)
        }
    }

    private func bootstrap(_ desk: Desk) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelInitializer { [settings, logger] channel in
                channel.eventLoop.makeCompletedFuture {
                    let limit = DescriptorLimit.connections(
                        besides: settings.cache.transfers.transferLimit)
                    try channel.pipeline.syncOperations.addHandler(
                        Reception(limit: limit, logger: logger))
                }
            }
            .serverChannelOption(.maxMessagesPerRead, value: UInt(Reception.turn))
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(
                .writeBufferWaterMark, value: .init(low: 64 * 1024, high: 1024 * 1024)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Connection(desk: desk, client: desk.hub.nextClient()))
                }
            }
    }

    /// Nothing new comes in; what runs stops, what is staged is published; answers go out, as far as
    /// anybody reads them.
    private func drain(
        _ listener: any Channel, _ hub: Hub, _ loop: any EventLoop
    ) async throws {
        socket.remove()
        try await listener.close()
        try await loop.submit { hub.isDraining = true }.get()
        try await drainer.runIfActive {
            self.cache.beginDraining()
            // Before the cache's threads, which a reaction that runs needs to end.
            self.pressure.stop()
            self.cache.drain()
        }
        let closed = try await loop.submit { () -> EventLoopFuture<Void> in
            let connections = hub.connections
            for connection in connections { connection.shutDown() }
            let ends = connections.compactMap { $0.context?.channel.closeFuture }
            return EventLoopFuture.andAllComplete(ends, on: loop)
        }.get()
        let deadline = loop.scheduleTask(in: Self.patience) {}
        closed.whenComplete { _ in deadline.cancel() }
        // A cancelled deadline means that all connections were closed before it.
        try? await deadline.futureResult.get()
        try await drainer.shutdownGracefully()
    }
}
