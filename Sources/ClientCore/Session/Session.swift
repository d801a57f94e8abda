import CClient

/// The set of images that one program wants from the daemon. It outlives restarts of the daemon.
///
/// It starts no thread and never waits: ``descriptor`` becomes readable when ``next()`` may have something. Used by one
/// thread at a time.
public final class Session {
    private let sockets: [[UInt8]]
    private let options: StreamOptions
    /// Milliseconds for which the daemon may be away before images count as failed.
    public var patience: Int64 = 30_000
    private let timer: Int32
    /// An epoll instance, which is one descriptor for the connection and the timer.
    public let descriptor: Int32
    private let process: pid_t

    private var wanted = WantedTable()
    private var stream: Connection?
    private var pressure = PressureWatch()
    private var changes = WatchStream(Calls.watchAll())
    /// Since when the daemon is away or has not answered; `nil` while it answers.
    private var lostAt: Int64?
    private var hasReportedLoss = false

    /// News that was received and not taken.
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

    /// Whether this is the process that made the session. Its child after a fork(2) has no part in it.
    public var isOwners: Bool { getpid() == process }

    // MARK: Wanting

    /// Wants these images from now on, and no others. Downloads of images that stay in the set continue.
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

    /// The set, each image once with its highest priority, and as decided as it is now.
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

    /// The changes to send to the daemon: images that are new or have another priority, and those that are gone.
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
        // It has to answer before it counts as being there.
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

    /// The next news of an image that is wanted; `nil` if there is none now. `body` gets the event and the texts it
    /// refers to, which are valid until the next call.
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

    /// Receives more. Returns whether there may be news.
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
                // It answers: it is back.
                lostAt = nil
                hasReportedLoss = false
                setTimer()
            } else {
                // A daemon that stops ends the stream, and perhaps reports something with its last reply.
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

    /// The level of memory pressure; watched from the first call on. 0 normal, 1 warning, 2 critical.
    public func pressureLevel() -> Int32 {
        pressure.start()
        pressure.receive(sockets, descriptor)
        setTimer()
        return pressure.level
    }

    /// The next level of memory pressure that has arrived; watched from the first call on. `nil` if there is none now.
    package func nextPressure() -> Int32? {
        pressure.start()
        defer { setTimer() }
        return pressure.next(sockets, descriptor)
    }

    // MARK: Changes

    /// The next news of any image of the cache; watched from the first call on. `nil` if there is none now. A reply can
    /// have many events, all of whose texts `body` gets.
    package func nextChanges<Result>(
        _ body: ([Event], UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        changes.start()
        defer { setTimer() }
        guard let reply = changes.next(sockets, descriptor) else { return nil }
        return reply.texts.withUnsafeBufferPointer { body(reply.events, $0) }
    }

    /// Lets the changes begin again with the state of everything.
    package func restartChanges() {
        changes = WatchStream(Calls.watchAll())
    }
}
