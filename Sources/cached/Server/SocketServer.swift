import CLinux
import CacheCore
import CacheWire
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The socket and everything behind it as one service, from binding the socket to the end of the last connection.
///
/// The socket is bound before the directory is scanned, so that clients need not wait for that. The directory is
/// locked before the socket is bound, so two daemons can never both believe that they own the directory.
final class SocketServer: Service {
    private let server: ServerContext
    private let socket: ListeningSocket
    private let settings: Settings
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// For the shutdown. The other pools can be busy with long calls then, and the system may not allow a new thread.
    private let drainer = NIOThreadPool(numberOfThreads: 1)

    /// Watches memory pressure while the cache runs.
    var pressure: PressureMonitor { server.pressure }

    /// How long clients have to read their last replies when the daemon stops.
    private static let lastReplyTimeout = TimeAmount.milliseconds(300)

    init(_ settings: Settings, logger: Logger) throws(StartFailure) {
        self.settings = settings
        let cache: Cache
        do {
            cache = try Cache(settings.cache, logger: logger)
        } catch {
            throw StartFailure(error)
        }
        let environment = try Environment.all()
        let relief = PressureRelief(settings.pressure, cache: cache, logger: logger)
        let pressure = PressureMonitor(
            settings.pressure, choice: .ofProcess(environment), logger: logger
        ) { relief.reactAndWait(to: $0) }
        socket = try ListeningSocket(
            path: settings.socket, mode: settings.socketMode,
            former: SocketLookup.formerPath(of: settings.socket, environment: environment))
        let loop = group.next()
        let replies = ReplyWriter(items: ItemWriter(directory: settings.cache.directory))
        let timeSlices = LoopTimeSlices(loop: loop)
        server = ServerContext(
            cache: cache, replies: replies, loop: loop, registry: ConnectionRegistry(loop: loop),
            broadcaster: Broadcaster(cache, replies, loop: loop, timeSlices: timeSlices),
            timeSlices: timeSlices, pool: NIOThreadPool(numberOfThreads: 2),
            pager: NIOThreadPool(numberOfThreads: 1), logger: logger, pressure: pressure,
            pressureNews: PressureNews(pressure, loop: loop), relief: relief,
            whereabouts: Methods.Where.Reply(
                directory: settings.cache.directory, socket: socket.absolutePath,
                version: Version.current, shared: settings.cache.transfers.caching.isShared))
    }

    func run() async throws {
        server.pool.start()
        server.pager.start()
        drainer.start()
        let listener = try await listen()
        socket.isListening()
        // Signals are handled from here on. One that arrived since the socket was bound stops the daemon now.
        clinux_raise_remembered_end()
        server.cache.start(observer: self)
        OpenSocketNotice.log(settings, server.logger)
        pressure.observe { [news = server.pressureNews] in news.reported() }
        pressure.start()
        server.logger.info(
            "listening",
            metadata: ["socket": "\(settings.socket)", "directory": "\(settings.cache.directory)"])
        // It throws only if the task is cancelled, and then the daemon stops as well.
        try? await gracefulShutdown()
        try await drain(listener)
        server.logger.info("stopped")
    }

    /// Applies the settings that can change while the daemon runs. An error changes nothing.
    func apply(_ settings: Settings) throws(StartFailure) {
        do {
            try server.cache.apply(settings.cache)
        } catch {
            throw StartFailure(error)
        }
        server.relief.apply(settings.pressure)
        server.pressure.apply(coolDown: settings.pressure.coolDown)
    }

    private func listen() async throws -> any Channel {
        do {
            return try await bootstrap().withBoundSocket(socket.descriptor).get()
        } catch {
            throw StartFailure(
                message:
                    "cannot listen on the socket \(settings.socket) (\(error)); choose another path "
                    + "with --socket",
                exitCode: .cannotCreate)
        }
    }

    private func bootstrap() -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelInitializer { [settings, server] channel in
                channel.eventLoop.makeCompletedFuture {
                    let limit = DescriptorLimit.connections(
                        besides: settings.cache.transfers.transferLimit)
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptLimiter(limit: limit, logger: server.logger))
                }
            }
            .serverChannelOption(.maxMessagesPerRead, value: UInt(AcceptLimiter.batch))
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(
                .writeBufferWaterMark, value: .init(low: 64 * 1024, high: 1024 * 1024)
            )
            .childChannelInitializer { [server] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ClientConnection(server, client: server.registry.nextClient()))
                }
            }
    }

    /// Stops in order: accepts no new client, ends the downloads, publishes images that are complete, and sends the
    /// last replies to the clients that read them.
    private func drain(_ listener: any Channel) async throws {
        let (server, loop) = (server, server.loop)
        socket.remove()
        try await listener.close()
        try await loop.submit { server.registry.isDraining = true }.get()
        try await drainer.runIfActive {
            server.cache.beginDraining()
            // Before the cache's threads stop, because a running reaction needs them to finish.
            self.pressure.stop()
            server.cache.drain()
        }
        let closed = try await loop.submit { () -> EventLoopFuture<Void> in
            let connections = server.registry.connections
            for connection in connections { connection.shutDown() }
            let ends = connections.compactMap { $0.context?.channel.closeFuture }
            return EventLoopFuture.andAllComplete(ends, on: loop)
        }.get()
        let deadline = loop.scheduleTask(in: Self.lastReplyTimeout) {}
        closed.whenComplete { _ in deadline.cancel() }
        // If the deadline was cancelled, all connections have closed before it.
        try? await deadline.futureResult.get()
        try await drainer.shutdownGracefully()
    }
}

/// Notices of the cache, which calls these functions on any of its threads.
extension SocketServer: CacheObserver {
    func decided(_ outcomes: [Outcome]) {
        server.loop.execute { [server] in
            for outcome in outcomes { server.registry.decided(outcome) }
        }
    }

    func changesArrived() {
        server.loop.execute { [server] in server.broadcaster.changesArrived() }
    }
}
