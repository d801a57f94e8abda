import CClient

/// The set of images that one program wants from the daemon. It outlives restarts of the daemon.
///
/// A session starts no thread and never waits: ``descriptor`` becomes readable when ``next()`` can have an event.
/// Only one thread can use it at a time.
public final class Session {
    /// Where the daemon is. A change counts from the next attempt to connect on.
    public var place: DaemonPlace
    private let options: StreamOptions
    /// Milliseconds without a daemon after which images count as failed.
    public var patience: Int64 = 30_000
    private let timer: Int32
    /// An epoll instance, which is one descriptor for the connection, the timer and the start of a daemon.
    public let descriptor: Int32
    private let process: pid_t

    private var wanted = WantedTable()
    /// The number of the last set of ``want(_:)``.
    private var set: UInt32 = 0
    /// Images that were wanted, and dropped ones, since the last message. An image can be there twice.
    private var unsent: [ImageName] = []
    private var dropped: [[UInt8]] = []
    /// A state for each image of a script, in place of a daemon.
    private let script: FakeScript?

    private var stream: Connection?
    /// Whether the connection has its first message.
    private var isStreaming = false
    private var pressure = PressureWatch()
    private var changes = WatchStream(Calls.watchAll())
    /// The time since which no daemon has answered; `nil` while it answers.
    private var lostAt: Int64?
    private var hasReportedLoss = false
    /// Whether a daemon has answered since images are wanted.
    private var wasThere = false
    private var start = DaemonStart()
    /// The time before which no daemon is started again.
    private var nextStart: Int64 = 0

    /// The reply that was received and whose events were not all taken.
    private var reply: ScannedReply?
    private var position = 0
    /// The texts of the last failure without a reply.
    private var failureTexts: [UInt8] = []
    /// Images that failed without a reply.
    private var failed: [ImageName] = []

    /// Milliseconds between two attempts to connect, before and after images have failed.
    private static let pause: Int64 = 200
    private static let longPause: Int64 = 2000
    /// Milliseconds that a daemon that was there has to come back by itself, and between two starts of one that does not
    /// answer.
    private static let grace: Int64 = 1000
    private static let startPause: Int64 = 30_000
    /// The most images of one message, so that it stays far below the limit of the daemon.
    private static let batch = 1000

    public convenience init(_ place: DaemonPlace) {
        self.init(place, StreamOptions())
    }

    package convenience init(_ place: DaemonPlace, _ options: StreamOptions) {
        self.init(place, options, nil)
    }

    /// A session that gets its events from a script.
    public convenience init(_ script: FakeScript) {
        self.init(DaemonPlace(sockets: []), StreamOptions(), script)
    }

    private init(_ place: DaemonPlace, _ options: StreamOptions, _ script: FakeScript?) {
        self.place = place
        self.options = options
        self.script = script
        timer = cclient_timer()
        descriptor = cclient_epoll()
        process = getpid()
        _ = cclient_watch(descriptor, timer, 0)
    }

    deinit {
        close(timer)
        close(descriptor)
    }

    /// Whether the kernel gave it its descriptors.
    public var isUsable: Bool { timer >= 0 && descriptor >= 0 }

    /// Whether this is the process that made the session. A child after a fork(2) must not use it.
    public var isOwners: Bool { getpid() == process }

    // MARK: Wanting

    /// Replaces the set of wanted images. Downloads of images that stay in the set continue. An image that is there
    /// twice has its highest priority.
    public func want(_ images: [(url: [UInt8], priority: WantedPriority)]) {
        set &+= 1
        for image in images {
            let name = image.url.withUnsafeBytes { ImageName(url: $0) }
            guard let known = wanted.position(of: name) else {
                let terms = options.terms
                insert(
                    name,
                    Wanted(url: image.url, priority: image.priority, terms: terms, set: set))
                continue
            }
            let isTwice = wanted.wants[known].set == set
            wanted.wants[known].set = set
            if !isTwice || wanted.wants[known].priority.rawValue < image.priority.rawValue {
                change(at: known, image.priority, wanted.wants[known].terms)
            }
        }
        for position in wanted.names.indices.reversed() where wanted.wants[position].set != set {
            remove(at: position)
        }
        sendChanges()
    }

    /// Wants one more image. One that is wanted already gets this priority and these terms.
    public func add(
        _ url: [UInt8], _ priority: WantedPriority, _ terms: WantTerms = WantTerms()
    ) {
        let name = url.withUnsafeBytes { ImageName(url: $0) }
        if let position = wanted.position(of: name) {
            change(at: position, priority, terms)
        } else {
            insert(name, Wanted(url: url, priority: priority, terms: terms, set: set))
        }
        sendChanges()
    }

    /// Wants an image no longer.
    public func drop(_ url: [UInt8]) {
        guard let position = wanted.position(of: url.withUnsafeBytes { ImageName(url: $0) }) else {
            return
        }
        remove(at: position)
        sendChanges()
    }

    private func insert(_ name: ImageName, _ want: Wanted) {
        wanted.append(name, want)
        unsent.append(name)
    }

    private func change(at position: Int, _ priority: WantedPriority, _ terms: WantTerms) {
        let want = wanted.wants[position]
        guard want.priority != priority || want.terms != terms else { return }
        wanted.wants[position].priority = priority
        if want.terms != terms {
            wanted.wants[position].terms = terms
            wanted.wants[position].isDecided = false
        }
        unsent.append(wanted.names[position])
    }

    private func remove(at position: Int) {
        dropped.append(wanted.wants[position].url)
        wanted.remove(at: position)
    }

    private func sendChanges() {
        if wanted.isEmpty {
            hangUp()
        } else if script != nil {
            setTimer()
        } else if stream == nil {
            let isAbsent = hasReportedLoss
            connect()
            guard stream == nil else { return }
            // The absence was reported before these images were wanted.
            if isAbsent { failed += unsent }
            (unsent, dropped) = ([], [])
            setTimer()
        } else {
            sendUnsent()
        }
    }

    /// Ends the stream because nothing is wanted.
    private func hangUp() {
        stream = nil
        (reply, lostAt) = (nil, nil)
        // Later, a daemon that has nothing to do can have ended.
        (hasReportedLoss, wasThere) = (false, false)
        (unsent, dropped) = ([], [])
        setTimer()
    }

    /// Sends what has changed, in messages of some images each, as long as the socket takes them.
    private func sendUnsent() {
        while stream?.hasOutput == false, !unsent.isEmpty || !dropped.isEmpty {
            let names = unsent.prefix(Self.batch)
            let add = names.compactMap { wanted.position(of: $0).map { wanted.wants[$0] } }
            unsent.removeFirst(names.count)
            let message =
                isStreaming ? Calls.adjust(add: add, drop: dropped) : Calls.fetch(add, options)
            (isStreaming, dropped) = (true, [])
            guard stream?.send(message) == true else { return lost() }
        }
        watchStream()
    }

    private func watchStream() {
        guard let file = stream?.descriptor else { return }
        _ = cclient_watch(descriptor, file, stream?.hasOutput == true ? 1 : 0)
    }

    // MARK: The daemon comes and goes

    private func connect() {
        do throws(Connection.Failure) {
            stream = try Connection(place.sockets)
        } catch {
            if error == .noDaemon { startDaemon() }
            return lost()
        }
        // The daemon counts as present only when it has answered.
        if lostAt == nil { lostAt = cclient_now() }
        (isStreaming, unsent, dropped) = (false, wanted.names, [])
        sendUnsent()
        setTimer()
    }

    /// The daemon is away. The next attempt to connect follows after a pause.
    private func lost() {
        stream = nil
        if lostAt == nil { lostAt = cclient_now() }
        if isHopeless, !hasReportedLoss {
            hasReportedLoss = true
            failUndecided()
        }
        setTimer()
    }

    private func failUndecided() {
        failed = wanted.names.indices.filter { !wanted.wants[$0].isDecided }.map {
            wanted.names[$0]
        }
    }

    /// Whether it makes no sense to wait longer for a daemon: the time is over, or none was ever there and none can be
    /// started. A socket without a daemon can be that of one that restarts.
    private var isHopeless: Bool {
        guard let lostAt else { return false }
        if cclient_now() - lostAt >= patience { return true }
        guard place.starts, !wasThere, !start.isRunning, !start.reason.isEmpty else { return false }
        return !start.lacksProgram || !place.hasSocketFile
    }

    /// Starts a daemon, unless that was tried a short time ago, or one that was there may still come back.
    private func startDaemon() {
        let now = cclient_now()
        guard place.starts, !start.isRunning, now >= nextStart,
            !wasThere || now - (lostAt ?? now) >= Self.grace
        else { return }
        start.begin(place)
        nextStart = now + Self.startPause
        if start.isRunning { _ = cclient_watch(descriptor, start.descriptor, 0) }
    }

    /// Connects as soon as a daemon was started.
    private func takeStart() {
        guard start.isRunning else { return }
        if !start.step() {
            // The next command runs, perhaps.
            _ = cclient_watch(descriptor, start.descriptor, 0)
        } else if stream == nil, !wanted.isEmpty {
            connect()
        }
    }

    private func setTimer() {
        let isAway = lostAt != nil && !wanted.isEmpty
        let pause = hasReportedLoss ? Self.longPause : Self.pause
        let mustWait = isAway || pressure.isAway || changes.isAway
        let hasNews = !failed.isEmpty || (script != nil && !unsent.isEmpty)
        cclient_set_timer(timer, hasNews ? 1 : mustWait ? pause : 0)
    }

    // MARK: News

    /// The next event of a wanted image; `nil` if there is none now. `body` gets the event and the texts it refers
    /// to, which are valid until the next call.
    public func next<Result>(
        _ body: (Event, UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        if let script { return next(of: script, body) }
        while true {
            if let name = failed.popLast() {
                guard let position = wanted.position(of: name) else { continue }
                return reportFailure(wanted.wants[position], body)
            }
            if position < reply?.events.count ?? 0 {
                position += 1
                guard let event = wantedEvent(at: position - 1), let reply else { continue }
                return reply.texts.withUnsafeBufferPointer { body(event, $0) }
            }
            reply = nil
            guard receive() else { return nil }
        }
    }

    /// An event of the reply; `nil` if its image is not wanted.
    private func wantedEvent(at index: Int) -> Event? {
        guard let current = reply, let start = current.events[index].url else { return nil }
        let name = current.text(at: start).withUnsafeBytes { ImageName(url: $0) }
        guard let place = wanted.position(of: name) else { return nil }
        let event = current.events[index]
        if event.state == .cached, let type = event.mediaType,
            !wanted.wants[place].terms.accepts(current.text(at: type))
        {
            reply?.refuse(at: index)
        }
        wanted.wants[place].isDecided = event.state == .cached || event.state == .failed
        return reply?.events[index]
    }

    private func reportFailure<Result>(
        _ want: Wanted, _ body: (Event, UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        var event = Event()
        (event.state, event.url) = (.failed, 0)
        var texts = want.url + [0]
        event.kind = texts.count
        texts += StaticText.bytes("noDaemon") + [0]
        event.message = texts.count
        texts += absence + [0]
        failureTexts = texts
        return failureTexts.withUnsafeBufferPointer { body(event, $0) }
    }

    /// Why there is no daemon.
    private var absence: [UInt8] {
        guard !start.reason.isEmpty else {
            return StaticText.bytes(
                "no daemon answers; start it with `cached`, or name another socket")
        }
        return StaticText.bytes("no daemon answers, and none was started: ") + start.reason
    }

    /// Receives more. Returns whether there can be new events.
    private func receive() -> Bool {
        takeStart()
        takeTime()
        pressure.receive(place.sockets, descriptor)
        guard stream?.flush() ?? true else {
            lost()
            return !failed.isEmpty
        }
        if stream != nil { sendUnsent() }
        var file: Int32 = -1
        let received = stream?.receive(&file)
        if file >= 0 { close(file) }
        switch received {
        case nil, .nothing?: return !failed.isEmpty
        case .end?:
            lost()
            return !failed.isEmpty
        case .message?: return take(stream?.take())
        }
    }

    /// Takes a reply. Returns whether there can be new events.
    private func take(_ next: ScannedReply?) -> Bool {
        guard let next, next.error == nil else {
            lost()
            return !failed.isEmpty
        }
        if next.continues {
            // The daemon answers, so it is back.
            (lostAt, hasReportedLoss, wasThere, nextStart) = (nil, false, true, 0)
            setTimer()
        } else {
            // A daemon that stops ends the stream, and its last reply can have events.
            lost()
        }
        (reply, position) = (next, 0)
        return true
    }

    /// Tries to connect again if the pause is over.
    private func takeTime() {
        var count: UInt64 = 0
        guard read(timer, &count, 8) == 8 else { return }
        if let lostAt, !wanted.isEmpty {
            if stream == nil {
                connect()
            } else if cclient_now() - lostAt >= patience {
                lost()
            }
        }
        setTimer()
    }

    // MARK: Scripts

    private func next<Result>(
        of script: FakeScript, _ body: (Event, UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        var count: UInt64 = 0
        _ = read(timer, &count, 8)
        defer { setTimer() }
        while let name = unsent.first {
            guard wanted.position(of: name) != nil, script.advance(name) else {
                unsent.removeFirst()
                continue
            }
            return script.withState(of: name, body)
        }
        return nil
    }

    /// The script has another state of an image.
    public func stateAdded(_ name: ImageName) {
        if wanted.position(of: name) != nil { unsent.append(name) }
        setTimer()
    }

    // MARK: Pressure

    /// The level of memory pressure, watched since the first call: 0 normal, 1 warning, 2 critical.
    public func pressureLevel() -> Int32 {
        pressure.start()
        pressure.receive(place.sockets, descriptor)
        setTimer()
        return pressure.level
    }

    /// The next level of memory pressure that has arrived; `nil` if there is none now. The first call starts the
    /// watch.
    package func nextPressure() -> Int32? {
        pressure.start()
        defer { setTimer() }
        return pressure.next(place.sockets, descriptor)
    }

    // MARK: Changes

    /// The next event of any image of the cache; `nil` if there is none now. The first call starts the watch. `body`
    /// gets the texts of the whole reply, which can have many events.
    package func nextChanges<Result>(
        _ body: ([Event], UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        changes.start()
        defer { setTimer() }
        guard let reply = changes.next(place.sockets, descriptor) else { return nil }
        return reply.texts.withUnsafeBufferPointer { body(reply.events, $0) }
    }

    /// Starts the watch of changes again, which begins with the state of all images.
    package func restartChanges() {
        changes = WatchStream(Calls.watchAll())
    }
}
