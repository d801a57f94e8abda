import CClient

/// The set of images that one program wants from the daemon. It outlives restarts of the daemon.
///
/// A session starts no thread and never waits: ``descriptor`` becomes readable when ``next()`` can have an event.
/// Only one thread can use it at a time.
public final class Session {
    private let sockets: [[UInt8]]
    private let options: StreamOptions
    /// Milliseconds without a daemon after which images count as failed.
    public var patience: Int64 = 30_000
    private let timer: Int32
    /// An epoll instance, which is one descriptor for the connection and the timer.
    public let descriptor: Int32
    private let process: pid_t

    private var wanted = WantedTable()
    private var stream: Connection?
    private var pressure = PressureWatch()
    private var changes = WatchStream(Calls.watchAll())
    /// The time since which no daemon has answered; `nil` while it answers.
    private var lostAt: Int64?
    private var hasReportedLoss = false

    /// The reply that was received and whose events were not all taken.
    private var reply: ScannedReply?
    private var position = 0
    /// The texts of the last failure without a reply.
    private var absenceTexts: [UInt8] = []
    /// Images that failed without a reply.
    private var failed: [ImageName] = []

    /// Milliseconds between two attempts to connect, before and after images have failed.
    private static let pause: Int64 = 200
    private static let longPause: Int64 = 2000

    public convenience init(sockets: [[UInt8]]) {
        self.init(sockets: sockets, StreamOptions())
    }

    package init(sockets: [[UInt8]], _ options: StreamOptions) {
        self.sockets = sockets
        self.options = options
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

    /// Replaces the set of wanted images. Downloads of images that stay in the set continue.
    public func want(_ images: [(url: [UInt8], priority: WantedPriority)]) {
        let next = table(of: images)
        let (added, dropped) = difference(from: wanted, to: next)
        wanted = next
        failed.removeAll { next.position(of: $0) == nil }
        if wanted.isEmpty {
            hangUp()
        } else if stream == nil {
            connect()
        } else if !added.isEmpty || !dropped.isEmpty {
            send(Calls.adjust(add: added, drop: dropped))
        }
    }

    /// The new set. Each image is in it once, with its highest priority, and stays decided if it is.
    private func table(of images: [(url: [UInt8], priority: WantedPriority)]) -> WantedTable {
        var table = WantedTable(capacity: images.count)
        for image in images {
            let name = image.url.withUnsafeBytes { ImageName(url: $0) }
            if let twice = table.position(of: name) {
                if table.wants[twice].priority.rawValue < image.priority.rawValue {
                    table.setPriority(image.priority, at: twice)
                }
                continue
            }
            let isDecided = wanted.position(of: name).map { wanted.wants[$0].isDecided } ?? false
            table.append(
                name, Wanted(url: image.url, priority: image.priority, isDecided: isDecided))
        }
        return table
    }

    /// The changes to send to the daemon: new images, images with another priority, and dropped images.
    private func difference(
        from old: WantedTable, to new: WantedTable
    ) -> (added: [Wanted], dropped: [[UInt8]]) {
        var added: [Wanted] = []
        for (number, want) in new.wants.enumerated() {
            let before = old.position(of: new.names[number])
            if before.map({ old.wants[$0].priority != want.priority }) ?? true {
                added.append(want)
            }
        }
        var dropped: [[UInt8]] = []
        for (number, name) in old.names.enumerated() where new.position(of: name) == nil {
            dropped.append(old.wants[number].url)
        }
        return (added, dropped)
    }

    /// Ends the stream because nothing is wanted.
    private func hangUp() {
        stream = nil
        reply = nil
        lostAt = nil
        hasReportedLoss = false
        setTimer()
    }

    private func connect() {
        stream = try? Connection(sockets)
        guard stream != nil else { return lost() }
        // The daemon counts as present only when it has answered.
        if lostAt == nil { lostAt = cclient_now() }
        send(Calls.fetch(wanted.wants, options))
        setTimer()
    }

    private func send(_ message: [UInt8]) {
        guard let works = stream?.send(message) else { return }
        if works { watchStream() } else { lost() }
    }

    private func watchStream() {
        guard let file = stream?.descriptor else { return }
        _ = cclient_watch(descriptor, file, stream?.hasOutput == true ? 1 : 0)
    }

    /// The daemon is away. The next attempt to connect follows after a pause.
    private func lost() {
        stream = nil
        let now = cclient_now()
        if lostAt == nil { lostAt = now }
        if let lostAt, now - lostAt >= patience, !hasReportedLoss {
            hasReportedLoss = true
            for (number, want) in wanted.wants.enumerated() where !want.isDecided {
                failed.append(wanted.names[number])
            }
        }
        setTimer()
    }

    private func setTimer() {
        let isAway = lostAt != nil && !wanted.isEmpty
        let pause = hasReportedLoss ? Self.longPause : Self.pause
        cclient_set_timer(timer, isAway || pressure.isAway || changes.isAway ? pause : 0)
    }

    // MARK: News

    /// The next event of a wanted image; `nil` if there is none now. `body` gets the event and the texts it refers
    /// to, which are valid until the next call.
    public func next<Result>(
        _ body: (Event, UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        while true {
            if let name = failed.popLast(), let position = wanted.position(of: name) {
                return reportAbsence(wanted.wants[position], body)
            }
            if let current = reply, position < current.events.count {
                let event = current.events[position]
                position += 1
                guard isWanted(event, current) else { continue }
                return current.texts.withUnsafeBufferPointer { body(event, $0) }
            }
            reply = nil
            guard receive() else { return nil }
        }
    }

    private func isWanted(_ event: Event, _ reply: ScannedReply) -> Bool {
        guard let start = event.url, let end = reply.texts[start...].firstIndex(of: 0) else {
            return false
        }
        let name = reply.texts[start..<end].withUnsafeBytes { ImageName(url: $0) }
        guard let position = wanted.position(of: name) else { return false }
        wanted.setDecided(event.state == .cached || event.state == .failed, at: position)
        return true
    }

    private func reportAbsence<Result>(
        _ want: Wanted, _ body: (Event, UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        var texts = want.url + [0]
        var event = Event()
        event.state = .failed
        event.url = 0
        event.kind = texts.count
        texts += StaticText.bytes("noDaemon") + [0]
        event.message = texts.count
        texts +=
            StaticText.bytes("no daemon answers; start it with `cached`, or name another socket")
            + [0]
        absenceTexts = texts
        return absenceTexts.withUnsafeBufferPointer { body(event, $0) }
    }

    /// Receives more. Returns whether there can be new events.
    private func receive() -> Bool {
        takeTime()
        pressure.receive(sockets, descriptor)
        guard stream?.flush() ?? true else {
            lost()
            return !failed.isEmpty
        }
        if stream != nil { watchStream() }
        var file: Int32 = -1
        let received = stream?.receive(&file)
        if file >= 0 { close(file) }
        switch received {
        case nil, .nothing?: return !failed.isEmpty
        case .end?:
            lost()
            return !failed.isEmpty
        case .message?:
            guard let next = stream?.take(), next.error == nil else {
                lost()
                return !failed.isEmpty
            }
            if next.continues {
                // The daemon answers, so it is back.
                lostAt = nil
                hasReportedLoss = false
                setTimer()
            } else {
                // A daemon that stops ends the stream, and its last reply can have events.
                lost()
            }
            (reply, position) = (next, 0)
            return true
        }
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

    // MARK: Pressure

    /// The level of memory pressure, watched since the first call: 0 normal, 1 warning, 2 critical.
    public func pressureLevel() -> Int32 {
        pressure.start()
        pressure.receive(sockets, descriptor)
        setTimer()
        return pressure.level
    }

    /// The next level of memory pressure that has arrived; `nil` if there is none now. The first call starts the
    /// watch.
    package func nextPressure() -> Int32? {
        pressure.start()
        defer { setTimer() }
        return pressure.next(sockets, descriptor)
    }

    // MARK: Changes

    /// The next event of any image of the cache; `nil` if there is none now. The first call starts the watch. `body`
    /// gets the texts of the whole reply, which can have many events.
    package func nextChanges<Result>(
        _ body: ([Event], UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        changes.start()
        defer { setTimer() }
        guard let reply = changes.next(sockets, descriptor) else { return nil }
        return reply.texts.withUnsafeBufferPointer { body(reply.events, $0) }
    }

    /// Starts the watch of changes again, which begins with the state of all images.
    package func restartChanges() {
        changes = WatchStream(Calls.watchAll())
    }
}
