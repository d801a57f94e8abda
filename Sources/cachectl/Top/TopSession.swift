import CacheWire
import Glibc

/// `top` at work: carries keys, replies and the time to the model, and its wishes and screens away.
///
/// It sleeps in poll(2) until a key, a reply, a signal or the model's next deadline.
final class TopSession {
    /// Why it ended.
    enum End: Hashable {
        case quit
        case signal(Int32)
    }

    private let screen: FullScreen
    private let signals: SignalDescriptor
    private let terminal: TerminalCapabilities
    /// What begins and ends anywhere; what happens on the screen; everything else that is asked.
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

    /// Runs until a person, a signal or an error ends it; the terminal is as before then.
    func run() throws {
        screen.enter()
        do {
            defer { screen.leave() }
            while end == nil { try runOnce() }
        }
        switch end {
        case .signal(SIGINT): throw ExitStatus.interrupted.error
        case .signal(let number): signals.reraise(number)
        case .quit, nil: break
        }
    }

    private var now: Duration { start.duration(to: .now) }

    /// One round: draw what is due, sleep, take in what has come.
    private func runOnce() throws {
        if !downloadsClient.isWaiting { try watchDownloads() }
        try perform(model.advanced(to: now))
        if let due = model.nextFrame, due <= now, screen.device.isDrained { try draw() }
        let ready = wait()
        if ready.contains(signals.descriptor) { signals.read().forEach(received) }
        if ready.contains(screen.device.descriptor) { try readKeys() }
        try press(decoder.waited(until: now))
        for line in clients where ready.contains(line.descriptor) { try line.takeReplies() }
    }

    private var clients: [PipelinedClient] { [downloadsClient, rowsClient, requestClient] }

    /// The descriptors that have something, after a sleep that is as long as nothing happens. poll(2).
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

    /// Milliseconds until something happens by itself, -1 for never.
    private var timeout: Int32 {
        // A frame that is due waits for the terminal, not for the clock.
        let deadlines = [screen.device.isDrained ? model.nextDeadline : nil, decoder.deadline]
        guard let next = deadlines.compactMap(\.self).min() else { return -1 }
        return max(0, Int32((next - now) / .milliseconds(1)) + 1)
    }

    // MARK: The terminal

    private func draw() throws {
        if model.urlsOnScreen != watchedURLs { try watchScreen() }
        let time = ScreenTime.now(since: start)
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

    /// The daemon ends this stream where it can't remember all that happened while nobody read it; then
    /// it tells anew what there is.
    private func watchDownloads() throws {
        model.forgetDownloads()
        try downloadsClient.call(Methods.Watch.self, .init(downloads: true)) { [unowned self] in
            model.downloadsChanged($0, now: now)
        }
    }

    /// Other rows are on the screen: one call takes the place of the one before.
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
                try perform(model.sampled($0.stats, now: now))
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
