internal import CCurl
internal import CacheKey
import Glibc
internal import Synchronization

/// The one thread that owns libcurl and every transfer in it. Others leave commands and wake it.
final class TransferLoop: Sendable {
    /// What the thread can be asked to do.
    enum Command: Sendable {
        case start(FlightID, CacheKey, CacheURL, LocalHints)
        /// Ends a transfer if it still runs.
        case cancel(FlightID, CacheKey, discardsPartial: Bool)
        /// Goes on with a transfer that waited for room.
        case resume(FlightID)
        /// Closes connections to origins that serve nobody.
        case closeIdleConnections
        /// Removes a partial unless a transfer is writing to it.
        case discardPartial(CacheKey)
        case stop
    }

    /// What is left for the thread.
    private struct Desk {
        var commands: [Command] = []
        /// The thread sleeps, or is about to, and has to be woken.
        var isAsleep = false
    }

    private let multi: CurlMulti
    private let desk = Mutex(Desk())
    private let thread = Mutex<NamedThread?>(nil)

    init() throws(CacheError) {
        multi = try CurlMulti()
    }

    /// Starts the thread; it tells the context's owner what happens until ``finish()``.
    func start(_ context: TransferContext) {
        thread.withLock { handle in
            handle = NamedThread("transfers") {
                TransferThread(context, self.multi).run(
                    takeCommands: { self.takeCommands() }, maySleep: { self.maySleep() })
            }
        }
    }

    /// Queues a command; never waits.
    func send(_ command: Command) {
        let wakes = desk.withLock { desk in
            desk.commands.append(command)
            defer { desk.isAsleep = false }
            return desk.isAsleep
        }
        if wakes { multi.wakeUp() }
    }

    /// Ends all transfers, keeping their partials, and the thread.
    func finish() {
        send(.stop)
        thread.withLock { $0.take() }?.join()
    }

    /// curl_version(3).
    static var curlVersion: String { String(cString: curl_version()) }

    private func takeCommands() -> [Command] {
        desk.withLock { desk in
            desk.isAsleep = false
            guard !desk.commands.isEmpty else { return [] }
            defer { desk.commands = [] }
            return desk.commands
        }
    }

    /// Whether nothing is left to do; from now on a command wakes the thread.
    private func maySleep() -> Bool {
        desk.withLock { desk in
            desk.isAsleep = desk.commands.isEmpty
            return desk.isAsleep
        }
    }
}

/// What the thread itself holds; nothing of it is ever seen by another.
private final class TransferThread {
    private let context: TransferContext
    private let multi: CurlMulti
    private let thread = pthread_self()
    private var transfers: [FlightID: Transfer] = [:]
    /// Downloads that were cancelled while libcurl looked up a name: it would wait for the answer before it
    /// let go of them. So they stay until there is one, and whether their end is to be told then.
    private var abandoned: [FlightID: (transfer: Transfer, isUntold: Bool)] = [:]
    /// Downloads that wait for room without a request.
    private var parked: [FlightID: ParkedDownload] = [:]
    /// Downloads that read a partial again, in turn.
    private var rereading: [FlightID] = []
    /// Those that were over before they had read it.
    private var ended: [FlightID: CURLcode] = [:]
    private let resolutions: Resolutions
    private let pace: RateLimiter
    private var isRunning = true
    /// Until when each connection that becomes idle is closed.
    private var closesUntil: ContinuousClock.Instant?

    /// Without work, the longest nap; a wake-up ends it.
    private static let longestNap: Int32 = 60_000
    /// Enough for most transfers to end, and their connections with them.
    private static let closingTime = Duration.seconds(5)
    /// Bytes of a partial read at a time, between which others have their turn.
    private static let rereadingStep = 1 << 20

    init(_ context: TransferContext, _ multi: CurlMulti) {
        self.context = context
        self.multi = multi
        resolutions = Resolutions(context.settings)
        pace = RateLimiter(rate: context.settings.maximumRate, now: .now)
        configure(connections: context.settings.transferLimit)
    }

    private func configure(connections: Int) {
        multi.set(CURLMOPT_MAXCONNECTS, connections)
        // Progress is reported by the callbacks; connections of the same host share one by HTTP/2.
        multi.set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    func run(takeCommands: () -> [TransferLoop.Command], maySleep: () -> Bool) {
        precondition(pthread_equal(thread, pthread_self()) != 0, "libcurl has one thread")
        while true {
            for command in takeCommands() { perform(command) }
            guard isRunning else { break }
            while let id = nextPaused() { resume(id) }
            multi.perform()
            while let (handle, code) = multi.nextFinished() { finished(handle, code) }
            endWaiting()
            reread()
            writeOut()
            if transfers.isEmpty, abandoned.isEmpty, closesUntil != nil { renew() }
            keepConnections()
            // What ended may have had others begin.
            multi.poll(milliseconds: maySleep() && rereading.isEmpty ? nap : 0)
        }
        for transfer in transfers.values {
            transfer.leaveBehind()
            multi.remove(transfer.easy)
        }
        transfers.removeAll()
        for (transfer, _) in abandoned.values { multi.remove(transfer.easy) }
        abandoned.removeAll()
    }

    /// Who may go on where the rate held it back.
    private func nextPaused() -> FlightID? {
        pace.next(
            flow: { id in transfers[id].flatMap { context.lane($0.key, id) } }, now: .now)
    }

    /// Milliseconds until something is to be done whether or not anything happens.
    private var nap: Int32 {
        let due = transfers.values.lazy.compactMap(\.wait).map { self.longestWait - $0 }
        let delays = [pace.delay(now: .now), due.min()].compactMap(\.self)
        guard let delay = delays.min().map({ max($0, .zero) }) else { return Self.longestNap }
        return min(Self.longestNap, Int32(clamping: Int64(delay / .milliseconds(1)) + 1))
    }

    /// Ends what waits for too long for the connection that another opens: libcurl counts the time of that
    /// one only. CURLOPT_PIPEWAIT(3), CURLOPT_CONNECTTIMEOUT(3).
    private func endWaiting() {
        for transfer in transfers.values {
            guard let wait = transfer.wait, wait > longestWait else { continue }
            end(transfer, CURLE_OPERATION_TIMEDOUT)
        }
    }

    /// A little more than libcurl allows, which ends by itself what it counts.
    private var longestWait: Duration {
        .seconds(context.settings.connectTimeout) + .milliseconds(500)
    }

    private func perform(_ command: TransferLoop.Command) {
        switch command {
        case .start(let id, let key, let url, let remains):
            begin(id, key, url, remains, isSociable: true)
        case .cancel(let id, let key, let discardsPartial): cancel(id, key, discardsPartial)
        case .resume(let id): resume(id)
        case .closeIdleConnections: closeIdleConnections()
        case .discardPartial(let key): discardPartial(key)
        case .stop: isRunning = false
        }
    }

    private func begin(
        _ id: FlightID, _ key: CacheKey, _ url: CacheURL, _ remains: LocalHints, isSociable: Bool
    ) {
        do throws(CurlError) {
            let easy = try handle()
            let transfer = Transfer(
                id, key, url, easy, context, multi.connections, pace, isSociable: isSociable)
            transfer.mayReplacePartial = remains.partial
            if remains.partial { transfer.findPartial() }
            if remains.entry { transfer.findEntry() }
            try easy.aim(at: transfer)
            transfers[id] = transfer
            if transfer.isRereading { rereading.append(id) }
            multi.add(easy)
        } catch {
            let failure = Failure.curl(error.code)
            context.onFinished(key, id, .failed(FailedTransfer(failure: failure)))
        }
    }

    /// What came of images that are not whole yet goes into their partials.
    private func writeOut() {
        for transfer in transfers.values {
            if transfer.hasUnwritten {
                transfer.writeOut()
                if transfer.ownFailure != nil { end(transfer, CURLE_WRITE_ERROR) }
            } else if transfer.hasUntoldHead {
                transfer.tellProgress()
            }
        }
    }

    /// Lets the next in turn read on in its partial; what waited for that goes on.
    private func reread() {
        guard !rereading.isEmpty else { return }
        let id = rereading.removeFirst()
        guard let transfer = transfers[id] else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.rereadingStep, alignment: 16)
        defer { buffer.deallocate() }
        transfer.reread(into: buffer)
        if transfer.isRereading {
            rereading.append(id)
        } else if let code = ended.removeValue(forKey: id) {
            end(transfer, code)
        } else {
            resume(id)
        }
    }

    /// Goes on with a transfer, if it was paused. The piece it had held back is taken within the call.
    private func resume(_ id: FlightID) {
        if let transfer = transfers[id], transfer.lacking == nil {
            let code = transfer.easy.resume()
            if code != CURLE_OK { end(transfer, code) }
        } else {
            unpark(id)
        }
    }

    /// Ends the request of a download that waits for room.
    private func park(_ transfer: Transfer, lacking bytes: Int64) {
        parked[transfer.id] = ParkedDownload(
            key: transfer.key, url: transfer.url, needed: bytes, length: transfer.length)
        transfer.leaveBehind()
        release(transfer)
        context.onBeginning(transfer.key, transfer.id, 0, nil)
    }

    /// Makes another request if there is room now.
    private func unpark(_ id: FlightID) {
        // libcurl may not have said yet that the former one is over.
        if let transfer = transfers[id], let bytes = transfer.lacking {
            park(transfer, lacking: bytes)
        }
        guard let download = parked[id] else { return }
        switch context.roomFor(download.key, id, download.needed, download.length) {
        case .wait, .again: break
        case .refused(let failure):
            parked[id] = nil
            context.onFinished(download.key, id, .failed(FailedTransfer(failure: failure)))
        case .granted:
            parked[id] = nil
            // One of unknown length may have to wait again, which it can do on a connection of its own.
            begin(
                id, download.key, download.url, LocalHints(), isSociable: download.length != nil)
        }
    }

    /// A new handle for each request: up to 7.88 at least, libcurl takes a folded line at the beginning of a
    /// response for a continuation of the last header the same handle has received before, which is freed
    /// by then. What is dear, connections and addresses, belongs to the multi handle.
    private func handle() throws(CurlError) -> CurlEasy {
        try CurlEasy(context.settings, resolutions, multi.connections)
    }

    private func finished(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
        guard let transfer = Transfer.owning(handle) else {
            preconditionFailure("libcurl finished a transfer nobody began")
        }
        if let (_, isUntold) = abandoned.removeValue(forKey: transfer.id) {
            multi.remove(transfer.easy)
            if isUntold { cancelled(transfer.id, transfer.key) }
        } else if transfer.waitsForRereading {
            ended[transfer.id] = code
        } else {
            end(transfer, code)
        }
    }

    private func end(_ transfer: Transfer, _ code: CURLcode) {
        if let bytes = transfer.lacking { return park(transfer, lacking: bytes) }
        if transfer.goesOnByOtherConnection(code) || transfer.continuesByProxy(code) {
            return aimAgain(transfer)
        }
        guard !transfer.hasToStartOver(), !transfer.confirmsNothing else {
            transfer.startOver()
            return aimAgain(transfer)
        }
        transfer.leaveSilentConnection(code)
        let end = transfer.end(code)
        release(transfer)
        guard transfer.needsFraming else {
            return context.onFinished(transfer.key, transfer.id, end)
        }
        context.onBeginning(transfer.key, transfer.id, 0, nil)
        begin(transfer.id, transfer.key, transfer.url, LocalHints(), isSociable: false)
    }

    /// Makes another request for the same download.
    private func aimAgain(_ transfer: Transfer) {
        multi.remove(transfer.easy)
        do throws(CurlError) {
            transfer.easy = try handle()
            try transfer.easy.aim(at: transfer)
            multi.add(transfer.easy)
        } catch {
            transfers[transfer.id] = nil
            let failure = Failure.curl(error.code)
            let end = TransferEnd.failed(FailedTransfer(failure: failure))
            context.onFinished(transfer.key, transfer.id, end)
        }
    }

    private func cancel(_ id: FlightID, _ key: CacheKey, _ discardsPartial: Bool) {
        if let transfer = transfers[id] {
            transfer.leaveBehind()
            if transfer.isResolving {
                abandon(transfer)
            } else {
                release(transfer)
                cancelled(id, key)
            }
        } else if parked.removeValue(forKey: id) != nil {
            cancelled(id, key)
        }
        if discardsPartial { discardPartial(key) }
    }

    private func cancelled(_ id: FlightID, _ key: CacheKey) {
        context.onFinished(key, id, .failed(FailedTransfer(failure: .removed)))
    }

    /// Its place is another's at once, unless so many are abandoned already that those who come and go would
    /// have ever more names looked up.
    private func abandon(_ transfer: Transfer) {
        let isUntold = abandoned.count >= context.settings.transferLimit
        transfers[transfer.id] = nil
        transfer.isAbandoned = true
        abandoned[transfer.id] = (transfer, isUntold)
        if !isUntold { cancelled(transfer.id, transfer.key) }
    }

    /// libcurl closes all idle connections only with the handle that holds them, which has to wait for
    /// the last transfer; until then, one whenever another becomes idle and they are too many.
    private func closeIdleConnections() {
        closesUntil = .now + Self.closingTime
        configure(connections: 1)
    }

    /// Lets connections be reused again, which those who go on downloading need.
    private func keepConnections() {
        guard let end = closesUntil, end <= .now else { return }
        closesUntil = nil
        configure(connections: context.settings.transferLimit)
    }

    private func renew() {
        multi.renew()
        configure(connections: context.settings.transferLimit)
        closesUntil = nil
    }

    private func release(_ transfer: Transfer) {
        multi.remove(transfer.easy)
        transfers[transfer.id] = nil
        ended[transfer.id] = nil
        pace.forget(transfer.id)
    }

    private func discardPartial(_ key: CacheKey) {
        guard !transfers.values.contains(where: { $0.key == key }) else { return }
        context.discardPartial(key)
    }
}

/// A download that gave up its request for want of room.
private struct ParkedDownload {
    let key: CacheKey
    let url: CacheURL
    let needed: Int64
    let length: Int64?
}
