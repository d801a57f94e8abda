import CacheWire
import Glibc

/// Runs `top`: passes keys, replies and the time to the model, performs its actions and draws its
/// screens.
///
/// It sleeps in poll(2) until a key, a reply, a signal or the model's next deadline.
final class TopSession {
    /// Why the session ended.
    enum End: Hashable {
        case quit
        case signal(Int32)
    }

    private let screen: FullScreen
    private let signals: SignalDescriptor
    private let terminal: TerminalCapabilities
    /// Three connections: for the start and end of all downloads, for the rows on the screen, and
    /// for all other calls.
    private let downloadsClient: PipelinedClient
    private let rowsClient: PipelinedClient
    private let requestClient: PipelinedClient
    private let start = ContinuousClock.now
    private var model: TopModel
    private var decoder = KeyDecoder()
    private var watchedURLs: [String] = []
    private var end: End?

    init(
        screen: FullScreen, terminal: TerminalCapabilities, connect: () throws -> Client
    ) throws {
        self.screen = screen
        self.terminal = terminal
        downloadsClient = PipelinedClient(try connect())
        rowsClient = PipelinedClient(try connect())
        requestClient = PipelinedClient(try connect())
        model = TopModel(size: screen.device.size)
        signals = try SignalDescriptor()
    }

    /// Runs until a key, a signal or an error ends it. The terminal is restored by then.
    func run() throws {
        screen.enter()
        do {
            defer { screen.leave() }
            // Shows whether there are several users.
            try perform(.stats)
            while end == nil { try runOnce() }
        }
        switch end {
        case .signal(SIGINT): throw ExitStatus.interrupted.error
        case .signal(let number): signals.reraise(number)
        case .quit, nil: break
        }
    }

    private var now: Duration { start.duration(to: .now) }

    /// Draws if a frame is due, sleeps, and handles the events that have arrived.
    private func runOnce() throws {
        if !downloadsClient.isWaiting { try watchDownloads() }
        try perform(model.advanced(to: now))
        if let due = model.nextFrame, due <= now, screen.device.isDrained { try draw() }
        let ready = wait()
        if ready.contains(signals.descriptor) { signals.read().forEach(received) }
        if ready.contains(screen.device.descriptor) { try readKeys() }
        try press(decoder.waited(until: now))
        for client in clients where ready.contains(client.descriptor) { try client.handleReplies() }
    }

    private var clients: [PipelinedClient] { [downloadsClient, rowsClient, requestClient] }

    /// Sleeps until the next event or deadline. Returns the descriptors that are ready. poll(2).
    private func wait() -> Set<Int32> {
        let wanted = Int16(POLLIN) | (screen.device.isDrained ? 0 : Int16(POLLOUT))
        var entries = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: screen.device.descriptor, events: wanted, revents: 0),
        ]
        entries += clients.filter(\.isWaiting).map {
            pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        guard poll(&entries, nfds_t(entries.count), timeout) > 0 else { return [] }
        return Set(entries.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    /// Milliseconds until the next deadline; -1 if there is none.
    private var timeout: Int32 {
        // If the terminal still reads the previous frame, a due frame waits for it, not for the
        // clock.
        let deadlines = [screen.device.isDrained ? model.nextDeadline : nil, decoder.deadline]
        guard let next = deadlines.compactMap(\.self).min() else { return -1 }
        return max(0, Int32(clamping: Int(saturating: (next - now) / .milliseconds(1))) &+ 1)
    }

    // MARK: The terminal

    private func draw() throws {
        if model.urlsOnScreen != watchedURLs { try watchScreen() }
        let time = LocalTime.now(since: start)
        let top = TopScreen(model: model, terminal: terminal, time: time)
        screen.show(top.canvas())
        model.schedule.drawn(at: time.elapsed, outdatedAt: top.outdatedAt)
    }

    private func readKeys() throws {
        screen.device.flush()
        guard let bytes = screen.device.read() else {
            end = .signal(SIGHUP)
            return
        }
        try press(decoder.decode(bytes, now: now))
    }

    private func press(_ keys: [Key]) throws {
        for key in keys { try perform(model.pressed(key, now: now)) }
    }

    private func received(_ number: Int32) {
        switch number {
        case SIGWINCH:
            screen.redrawAll()
            model.resized(screen.device.size)
        case SIGTSTP:
            screen.leave()
            signals.reraise(SIGTSTP)
            screen.enter()
            model.resized(screen.device.size)
        case SIGCONT:
            screen.resume()
            model.resized(screen.device.size)
        default:
            end = end ?? .signal(number)
        }
    }

    // MARK: The daemon

    /// Watches all downloads. The daemon ends the stream if it cannot remember all changes while
    /// the client is slow. The next call starts from the current state.
    private func watchDownloads() throws {
        model.forgetDownloads()
        try downloadsClient.call(Methods.Watch.self, .init(downloads: true)) { [unowned self] in
            model.downloadsChanged($0, now: now)
        }
    }

    /// Watches the rows on the screen. The new call replaces the previous one.
    private func watchScreen() throws {
        watchedURLs = model.urlsOnScreen
        model.watchScreen()
        try rowsClient.call(Methods.Watch.self, .init(urls: watchedURLs)) { [unowned self] in
            model.screenChanged($0, now: now)
        }
    }

    private func perform(_ actions: [TopModel.Action]) throws {
        for action in actions { try perform(action) }
    }

    private func perform(_ action: TopModel.Action) throws {
        switch action {
        case .quit:
            end = .quit
        case .stats:
            try requestClient.call(Methods.Stats.self, .init()) { [unowned self] in
                try perform(model.sampled($0.stats, users: $0.users ?? [], now: now))
            }
        case .list(let page):
            let (order, reverse) = page.order.wire
            let parameters = Methods.List.Parameters(
                order: order, limit: page.limit, after: page.after, reverse: reverse ? true : nil)
            try requestClient.call(Methods.List.self, parameters) { [unowned self] in
                try perform(model.listed(page, $0))
            }
        case .pin(let url, let isPinned):
            try requestClient.call(Methods.Pin.self, .init(urls: [url], pinned: isPinned)) {
                [unowned self] in model.answered(action, $0.items, now: now)
            }
        case .refresh(let url):
            let parameters = Methods.Fetch.Parameters(urls: [url], refresh: true, wait: false)
            try requestClient.call(Methods.Fetch.self, parameters) { [unowned self] in
                model.answered(action, $0.items, now: now)
            }
        case .remove(let url):
            try requestClient.call(Methods.Remove.self, .init(urls: [url])) { [unowned self] in
                try perform(model.removed($0, now: now))
            }
        }
    }
}
