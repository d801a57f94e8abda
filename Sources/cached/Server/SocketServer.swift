import CLinux
import CacheCore
import CacheFetching
import CacheWire
import Glibc
import HTTPCaching
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// The socket and everything behind it, from binding the socket to the end of the last connection.
///
/// The socket is bound before the directory is scanned, so that clients need not wait for that. The directory is
/// locked before the socket is bound, so two daemons can never both believe that they own the directory.
final class SocketServer: Sendable {
    private let server: ServerContext
    private let socket: ListeningSocket
    private let hot: HotLoop
    private let settings: Settings
    private let manager: ServiceManager
    private let group: MultiThreadedEventLoopGroup
    /// The signals that the daemon handles, for the main thread.
    let signals: HeldSignals

    var loop: any EventLoop { server.loop }
    /// Why the daemon ends, if no signal from outside ended it.
    let failure = Mutex<StartFailure?>(nil)
    /// Watches memory pressure while the cache runs.
    var pressure: PressureMonitor { server.pressure }

    /// How long clients have to read their last replies when the daemon stops.
    private static let lastReplyTimeout = TimeAmount.milliseconds(300)

    /// Binds the socket, locks the directory and restricts the process. No other thread may run yet.
    ///
    /// - Parameters:
    ///   - passed: the socket that the service manager has made, if there is one.
    ///   - manager: hears when the daemon is ready, how it is, and when it stops.
    init(
        _ settings: Settings, passed: PassedSocket?, manager: ServiceManager, logger: Logger
    ) throws(StartFailure) {
        self.settings = settings
        self.manager = manager
        let cache: Cache
        do {
            cache = try Cache(settings.cache, logger: logger)
        } catch {
            throw StartFailure(error)
        }
        let environment = try Environment.all()
        let relief = PressureRelief(settings.pressureEvicts, cache: cache, logger: logger)
        let choice = PressureChoice.ofProcess(environment)
        let pressure = PressureMonitor(choice: choice, logger: logger) {
            relief.reactAndWait(to: $0)
        }
        socket = try Self.socket(settings, passed, environment)
        let home = Namespaces.around(manager)
        if settings.restriction != .no {
            let paths = PermittedPaths(
                settings, environment, trust: cache.trustStore, pressure: choice)
            Restriction.apply(
                settings.restriction == .yes ? paths : nil, directory: settings.cache.directory,
                usesAbstractSockets: manager.isAbstract, logger)
        }
        signals = HeldSignals(SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2)
        // One that arrived before waits now like the others.
        clinux_raise_remembered_end()
        // The first thread starts here.
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let replies = ReplyWriter(items: ItemWriter(directory: settings.cache.directory))
        let timeSlices = LoopTimeSlices(loop: loop)
        let limit = DescriptorLimit.connections(reserving: settings.cache.transfers.transferLimit)
        let seats = ConnectionSeats(limit: limit, privileged: settings.managers.owners)
        hot = try HotLoop()
        server = ServerContext(
            cache: cache, replies: replies, loop: loop, connections: OpenConnections(seats),
            registry: ConnectionRegistry(loop: loop),
            broadcaster: Broadcaster(cache, replies, loop: loop, timeSlices: timeSlices),
            timeSlices: timeSlices, turns: CallTurns(loop: loop),
            descriptors: DescriptorSender(loop: loop, openFiles: DescriptorLimit.current ?? .max),
            workers: CallWorkers(),
            pager: NIOThreadPool(numberOfThreads: 1),
            managers: .makeBoxSendingValue(settings.managers, eventLoop: loop), home: home,
            logger: logger,
            pressure: pressure,
            pressureNews: PressureNews(pressure, loop: loop), relief: relief,
            whereabouts: Methods.Where.Reply(
                directory: settings.cache.directory, socket: socket.absolutePath,
                version: Version.current, shared: settings.cache.transfers.caching.isShared))
    }

    private static func socket(
        _ settings: Settings, _ passed: PassedSocket?, _ environment: [String: String]
    ) throws(StartFailure) -> ListeningSocket {
        if let passed { return ListeningSocket(passed) }
        let isUsers = SocketLookup.isUsers(settings.socket, environment: environment)
        return try ListeningSocket(
            path: settings.socket, mode: settings.socketMode, group: settings.socketGroup,
            directoryMode: isUsers ? 0o700 : settings.socket == SocketLookup.system ? 0o755 : nil)
    }

    /// Begins to serve clients.
    func start() throws(StartFailure) {
        server.workers.start()
        server.pager.start()
        try socket.listen()
        hot.start(server, listener: socket.descriptor)
        server.cache.start(observer: self)
        OpenSocketNotice.log(socket: socket.path, settings.cache.directory, server.logger)
        OpenDirectoryNotice.log(settings.cache.directory, server.logger)
        pressure.observe { [news = server.pressureNews] in news.reported() }
        pressure.start()
        server.logger.info(
            "listening",
            metadata: ["socket": "\(socket.path)", "directory": "\(settings.cache.directory)"])
        manager.ready(statusLine)
        guard let limit = settings.idleExit else { return }
        IdleExit(server: server, hot: hot, limit: limit) { [socket] in socket.remove() }.start()
    }

    /// The daemon's present activity, for the service manager.
    var statusLine: String {
        let now = server.cache.statistics()
        guard now.isWhole else { return "Serving images, and reading the cache directory" }
        let megabytes = (now.bytesUsed + 500_000) / 1_000_000
        return "Serving \(now.entries) images of \(megabytes) MB"
    }

    /// Calls `body` once both loops, the lock of the cache and the thread of the downloads have taken a turn.
    func takeTurn(_ body: @escaping @Sendable () -> Void) {
        hot.execute { [server] _ in
            server.loop.execute { server.cache.takeTurn(body) }
        }
    }

    /// Applies the settings that can change while the daemon runs. An error changes nothing.
    func apply(_ settings: Settings) throws(StartFailure) {
        do {
            try server.cache.apply(settings.cache)
        } catch {
            throw StartFailure(error)
        }
        // Waited for, so that a manager who was removed has no rights once the log says so.
        do {
            try loop.submit { [server] in server.managers.value = settings.managers }.wait()
        } catch {
            server.logger.debug("the event loop has ended", metadata: ["error": "\(error)"])
        }
        server.relief.apply(settings.pressureEvicts)
    }

    /// Stops in order: accepts no new client, ends the downloads, publishes images that are complete, and sends the
    /// last replies to the clients that read them.
    func stop() throws {
        manager.stopping("Finishing the images that are complete")
        let (server, loop) = (server, server.loop)
        socket.remove()
        let refuses = loop.makePromise(of: Void.self)
        hot.execute { connections in
            connections.stopListening()
            loop.execute {
                server.registry.isDraining = true
                refuses.succeed()
            }
        }
        try refuses.futureResult.wait()
        server.cache.beginDraining()
        // Before the cache's threads stop, because a running reaction needs them to finish.
        pressure.stop()
        server.cache.drain()
        hot.finish()
        let closed = try loop.submit { () -> EventLoopFuture<Void> in
            let connections = server.registry.connections
            for connection in connections { connection.shutDown() }
            let ends = connections.compactMap { $0.context?.channel.closeFuture }
            return EventLoopFuture.andAllComplete(ends, on: loop)
        }.wait()
        let deadline = loop.scheduleTask(in: Self.lastReplyTimeout) {}
        closed.whenComplete { _ in deadline.cancel() }
        // If the deadline was cancelled, all connections have closed before it.
        try? deadline.futureResult.wait()
        server.logger.info("stopped")
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

    func endsArrived() {
        server.loop.execute { [server] in server.broadcaster.endsArrived() }
    }

    /// The rights of a restricted daemon belong to the directory that was there at the start.
    func directoryGone() {
        guard settings.restriction == .yes else { return }
        failure.withLock {
            $0 = StartFailure(
                message:
                    "the cache directory \(settings.cache.directory) was removed or replaced, and a "
                    + "restricted daemon cannot use another one (--restrict): the next start makes it",
                exitCode: .temporaryFailure)
        }
        HeldSignals.end()
    }
}
