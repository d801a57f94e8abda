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
    private let signals: SignalInbox
    private let look: Look
    /// What begins and ends anywhere; what happens on the screen; everything else that is asked.
    private let arrivals: CallLine
    private let rows: CallLine
    private let questions: CallLine
    private let start = ContinuousClock.now
    private var model: TopModel
    private var decoder = KeyDecoder()
    private var watchedURLs: [String] = []
    private var end: End?

    init(
        screen: FullScreen, look: Look, connect: () throws -> Client
    ) throws {
        self.screen = screen
        self.look = look
        arrivals = CallLine(try connect())
        rows = CallLine(try connect())
        questions = CallLine(try connect())
        model = TopModel(size: screen.port.size)
        signals = try SignalInbox()
    }

    /// Runs until a person, a signal or an error ends it; the terminal is as before then.
    func run() throws {
        screen.enter()
        do {
            defer { screen.leave() }
            while end == nil { try turn() }
        }
        switch end {
        case .signal(SIGINT): throw ExitStatus.interrupted.error
        case .signal(let number): signals.obey(number)
        case .quit, nil: break
        }
    }

    private var now: Duration { start.duration(to: .now) }

    /// One round: draw what is due, sleep, take in what has come.
    private func turn() throws {
        if !arrivals.isWaiting { try watchDownloads() }
        try perform(model.advanced(to: now))
        if let due = model.nextFrame, due <= now, screen.port.isDrained { try draw() }
        let ready = wait()
        if ready.contains(signals.descriptor) { signals.read().forEach(received) }
        if ready.contains(screen.port.descriptor) { try readKeys() }
        try press(decoder.waited(until: now))
        for line in lines where ready.contains(line.descriptor) { try line.takeReplies() }
    }

    private var lines: [CallLine] { [arrivals, rows, questions] }

    /// The descriptors that have something, after a sleep that is as long as nothing happens. poll(2).
    private func wait() -> Set<Int32> {
        let terminal = Int16(POLLIN) | (screen.port.isDrained ? 0 : Int16(POLLOUT))
        var entries = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: screen.port.descriptor, events: terminal, revents: 0),
        ]
        entries += lines.filter(\.isWaiting).map {
            pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        guard poll(&entries, nfds_t(entries.count), timeout) > 0 else { return [] }
        return Set(entries.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    /// Milliseconds until something happens by itself, -1 for never.
    private var timeout: Int32 {
        // A frame that is due waits for the terminal, not for the clock.
        let deadlines = [screen.port.isDrained ? model.nextDeadline : nil, decoder.deadline]
        guard let next = deadlines.compactMap(\.self).min() else { return -1 }
        return max(0, Int32((next - now) / .milliseconds(1)) + 1)
    }

    // MARK: The terminal

    private func draw() throws {
        if model.urlsOnScreen != watchedURLs { try watchScreen() }
        let time = ScreenTime.now(since: start)
        let top = TopScreen(model: model, look: look, time: time)
        screen.show(top.canvas())
        model.pace.drawn(at: time.elapsed, untrueAt: top.untrueAt)
    }

    private func readKeys() throws {
        screen.port.flush()
        guard let bytes = screen.port.read() else {
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
            model.resized(screen.port.size)
        case SIGTSTP:
            screen.leave()
            signals.obey(SIGTSTP)
            screen.enter()
            model.resized(screen.port.size)
        case SIGCONT:
            screen.resume()
            model.resized(screen.port.size)
        default:
            end = end ?? .signal(number)
        }
    }

    // MARK: The daemon

    /// The daemon ends this stream where it can't remember all that happened while nobody read it; then
    /// it tells anew what there is.
    private func watchDownloads() throws {
        model.forgetDownloads()
        try arrivals.call(Methods.Watch.self, .init(downloads: true)) { [unowned self] in
            model.downloadsChanged($0, now: now)
        }
    }

    /// Other rows are on the screen: one call takes the place of the one before.
    private func watchScreen() throws {
        watchedURLs = model.urlsOnScreen
        model.watchScreen()
        try rows.call(Methods.Watch.self, .init(urls: watchedURLs)) { [unowned self] in
            model.screenChanged($0, now: now)
        }
    }

    private func perform(_ wishes: [TopModel.Wish]) throws {
        for wish in wishes { try perform(wish) }
    }

    private func perform(_ wish: TopModel.Wish) throws {
        switch wish {
        case .quit:
            end = .quit
        case .stats:
            try questions.call(Methods.Stats.self, .init()) { [unowned self] in
                try perform(model.sampled($0.stats, now: now))
            }
        case .list(let page):
            let (order, reverse) = page.order.wire
            let parameters = Methods.List.Parameters(
                order: order, limit: page.limit, after: page.after, reverse: reverse ? true : nil)
            try questions.call(Methods.List.self, parameters) { [unowned self] in
                try perform(model.listed(page, $0))
            }
        case .pin(let url, let isPinned):
            try questions.call(Methods.Pin.self, .init(urls: [url], pinned: isPinned)) {
                [unowned self] in model.answered(wish, $0.items, now: now)
            }
        case .refresh(let url):
            let parameters = Methods.Fetch.Parameters(urls: [url], refresh: true, wait: false)
            try questions.call(Methods.Fetch.self, parameters) { [unowned self] in
                model.answered(wish, $0.items, now: now)
            }
        case .remove(let url):
            try questions.call(Methods.Remove.self, .init(urls: [url])) { [unowned self] in
                try perform(model.removed($0, now: now))
            }
        }
    }
}
