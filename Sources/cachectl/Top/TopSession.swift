import CacheWire
import Glibc

/// Runs `top`: passes keys, replies and the time to the model, performs its actions and draws its
/// screens.
///
/// It sleeps in poll(2) until a key, a reply, a signal or the model's next deadline. It goes on over a
/// restart of the daemon.
final class TopSession {
    /// Why the session ended.
    enum End: Hashable {
        case quit
        case signal(Int32)
    }

    private let screen: FullScreen
    private let signals: SignalDescriptor
    private let terminal: TerminalCapabilities
    private let connect: () throws -> Client
    /// `nil` while no daemon is there.
    private var daemon: DaemonConnections?
    /// When to look for a daemon again.
    private var nextLook = Duration.zero
    private static let lookInterval = Duration.milliseconds(500)
    private let start = ContinuousClock.now
    private var model: TopModel
    private var decoder = KeyDecoder()
    private var watchedURLs: [String] = []
    private lazy var pictures = TopPictures(connect: connect)
    /// The picture on the screen.
    private var shownPicture: TopPictures.Request?
    private var end: End?

    init(
        screen: FullScreen, terminal: TerminalCapabilities, connect: @escaping () throws -> Client
    ) throws {
        self.screen = screen
        self.terminal = terminal
        self.connect = connect
        daemon = try DaemonConnections(connect)
        model = TopModel(size: screen.device.size)
        signals = try SignalDescriptor()
    }

    /// Runs until a key, a signal or an error ends it. The terminal is restored by then.
    func run() throws {
        screen.enter()
        do {
            defer { screen.leave() }
            try withDaemon { try perform(.history) }
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
        if daemon == nil, now >= nextLook { try lookForDaemon() }
        try withDaemon {
            if daemon?.downloads.isWaiting == false { try watchDownloads() }
            try perform(model.advanced(to: now))
        }
        if let due = model.nextFrame, due <= now, screen.device.isDrained { try draw() }
        let ready = wait()
        if ready.contains(signals.descriptor) { signals.read().forEach(received) }
        if ready.contains(screen.device.descriptor) { try readKeys() }
        try press(decoder.waited(until: now))
        try withDaemon {
            for client in daemon?.all ?? [] where ready.contains(client.descriptor) {
                try client.handleReplies()
            }
        }
    }

    /// Sleeps until the next event or deadline. Returns the descriptors that are ready. poll(2).
    private func wait() -> Set<Int32> {
        let wanted = Int16(POLLIN) | (screen.device.isDrained ? 0 : Int16(POLLOUT))
        var entries = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: screen.device.descriptor, events: wanted, revents: 0),
        ]
        entries += (daemon?.all ?? []).filter(\.isWaiting).map {
            pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        guard poll(&entries, nfds_t(entries.count), timeout) > 0 else { return [] }
        return Set(entries.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    /// Milliseconds until the next deadline; -1 if there is none.
    private var timeout: Int32 {
        // If the terminal still reads the previous frame, a due frame waits for it, not for the
        // clock.
        let deadlines = [
            screen.device.isDrained ? model.nextDeadline : nil, decoder.deadline,
            daemon == nil ? nextLook : nil,
        ]
        guard let next = deadlines.compactMap(\.self).min() else { return -1 }
        return max(0, Int32(clamping: Int(saturating: (next - now) / .milliseconds(1))) &+ 1)
    }

    // MARK: The terminal

    private func draw() throws {
        if model.urlsOnScreen != watchedURLs { try withDaemon { try watchScreen() } }
        let picture = model.picture
        if let shownPicture, shownPicture != picture {
            screen.removePictures()
            self.shownPicture = nil
        }
        let time = LocalTime.now(since: start)
        screen.show(TopScreen(model: model, terminal: terminal, time: time).canvas())
        model.schedule.drawn(at: time.elapsed)
        guard let picture, shownPicture == nil else { return }
        shownPicture = picture
        for piece in pictures.draw(picture) {
            screen.put(piece.text, column: piece.column, line: piece.line)
        }
    }

    /// Draws everything anew, because the terminal has lost it.
    private func redrawAll() {
        screen.redrawAll()
        shownPicture = nil
        model.resized(screen.device.size)
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
        for key in keys {
            let actions = model.pressed(key, now: now)
            try withDaemon { try perform(actions) }
        }
    }

    private func received(_ number: Int32) {
        switch number {
        case SIGWINCH:
            redrawAll()
        case SIGTSTP:
            screen.leave()
            signals.reraise(SIGTSTP)
            screen.enter()
            redrawAll()
        case SIGCONT:
            screen.resume()
            redrawAll()
        default:
            end = end ?? .signal(number)
        }
    }

    // MARK: The daemon

    /// Calls the daemon. If it has ended, `top` waits for the next one.
    private func withDaemon(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ClientError {
            switch error.code {
            case .disconnected, .noDaemon, .notPermitted, .input, .refused: lost(error)
            case .pathTooLong, .invalidEnvironment, .messageTooLarge, .invalidReply: throw error
            }
        }
    }

    private func lost(_ error: ClientError) {
        daemon = nil
        nextLook = now + Self.lookInterval
        model.lostDaemon(error.message)
    }

    private func lookForDaemon() throws {
        try withDaemon {
            daemon = try DaemonConnections(connect)
            watchedURLs = []
            try perform(model.foundDaemon())
        }
    }

    /// Watches all downloads. The daemon ends the stream if it cannot remember all changes while
    /// the client is slow. The next call starts from the current state.
    private func watchDownloads() throws {
        model.forgetDownloads()
        try daemon?.downloads.call(Methods.Watch.self, .init(downloads: true)) { [unowned self] in
            model.downloadsChanged($0, now: now)
        }
    }

    /// Watches the rows on the screen. The new call replaces the previous one.
    private func watchScreen() throws {
        watchedURLs = model.urlsOnScreen
        model.watchScreen()
        try daemon?.rows.call(Methods.Watch.self, .init(urls: watchedURLs)) { [unowned self] in
            try perform(model.screenChanged($0, now: now))
        }
    }

    private func perform(_ actions: [TopModel.Action]) throws {
        for action in actions { try perform(action) }
    }

    private func perform(_ action: TopModel.Action) throws {
        switch action {
        case .quit: end = .quit
        case .copy(let text): screen.copy(text)
        case .stats:
            try request(Methods.Stats.self, .init()) { [unowned self] in
                try perform(model.sampled($0.stats, users: $0.users ?? [], now: now))
            }
        case .list(let page):
            let (order, reverse) = page.order.wire
            let parameters = Methods.List.Parameters(
                order: order, limit: page.limit, after: page.after, reverse: reverse ? true : nil,
                host: page.filter.host,
                contains: page.filter.text.isEmpty ? nil : page.filter.text)
            try request(Methods.List.self, parameters) { [unowned self] in
                try perform(model.listed(page, $0))
            }
        case .countHosts(let after):
            let parameters = Methods.List.Parameters(order: .age, limit: 1000, after: after)
            try request(Methods.List.self, parameters) { [unowned self] in
                try perform(model.countedHosts($0))
            }
        case .details(let url):
            try request(Methods.Status.self, .init(urls: [url], details: true)) {
                [unowned self] in try perform(model.detailed($0.items))
            }
        case .explain(let url):
            try request(Methods.History.self, .init(urls: [url], limit: 1)) { [unowned self] in
                model.explained(url, $0.events)
            }
        case .history:
            // Without URLs the daemon of somebody else would refuse the events, which are not needed.
            try request(Methods.History.self, .init(urls: [], samples: true)) { [unowned self] in
                model.remembered($0.samples, now: TimeText.now())
            }
        case .remove(let url):
            try request(Methods.Remove.self, .init(urls: [url])) { [unowned self] in
                try perform(model.removed($0, now: now))
            }
        case .pin(let url, let isPinned):
            try request(Methods.Pin.self, .init(urls: [url], pinned: isPinned)) {
                [unowned self] in model.answered(action, $0.items, now: now)
            }
        case .pinDownload(let url):
            try fetch(.init(wants: [Want(url: url, pinned: true)], wait: false), for: action)
        case .refresh(let url):
            try fetch(.init(urls: [url], refresh: true, wait: false), for: action)
        case .retry(let urls): try fetch(.init(urls: urls, wait: false), for: action)
        }
    }

    private func fetch(
        _ parameters: Methods.Fetch.Parameters, for action: TopModel.Action
    ) throws {
        try request(Methods.Fetch.self, parameters) { [unowned self] in
            model.answered(action, $0.items, now: now)
        }
    }

    /// Calls a method. A refusal is shown; `top` goes on.
    private func request<M: Method>(
        _ method: M.Type, _ parameters: M.Parameters,
        then handle: @escaping (M.Reply) throws -> Void
    ) throws {
        guard let daemon else {
            return model.showNotice("no daemon is there: nothing was done", now: now)
        }
        try daemon.requests.call(
            method, parameters,
            refused: { [unowned self] in model.showNotice($0, now: now) }, then: handle)
    }
}
