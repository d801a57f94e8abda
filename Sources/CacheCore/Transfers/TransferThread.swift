import CacheFetching
internal import CacheKey
import CacheValues
import Glibc

/// The work of the transfer loop's thread. No other thread uses anything of it.
final class TransferThread {
    let context: TransferContext
    let multi: CurlMulti
    var downloads: [FlightID: Download] = [:]
    var cancellations = CancelledLookups()
    /// The ends of requests whose bytes are not all written or read yet.
    private var ends: [FlightID: RequestEnd] = [:]
    private let thread = pthread_self()
    private var isRunning = true
    /// Until when a connection is closed as soon as it is idle.
    private var closesIdleUntil: ContinuousClock.Instant?

    private var nextFramingCheck = ContinuousClock.now

    /// The time between two checks of the bytes that connections have brought, which is a system call for each download.
    private static let framingInterval = Duration.milliseconds(50)
    /// The longest sleep in milliseconds. A command ends it early.
    private static let longestSleep: Int32 = 60_000
    /// Enough time for most downloads to end, and their connections with them.
    private static let closingTime = Duration.seconds(5)

    init(_ context: TransferContext, _ multi: CurlMulti) {
        (self.context, self.multi) = (context, multi)
        multi.configure(connections: context.settings.transferLimit)
    }

    // MARK: The loop

    func run(takeCommands: () -> [TransferLoop.Command], maySleep: () -> Bool) {
        precondition(pthread_equal(thread, pthread_self()) != 0, "libcurl belongs to one thread")
        multi.receiveGuard.start()
        defer { multi.receiveGuard.finish() }
        while true {
            for command in takeCommands() { perform(command) }
            guard isRunning else { break }
            while let id = nextUnderRateLimit() { resume(id) }
            for id in context.turns.nextRound(hasPieces: context.bytes.pieces.areMany) {
                resume(id)
            }
            endFraming()
            multi.perform()
            endGuarded()
            stopWaiting()
            while let (handle, end) = multi.nextFinished() { finished(.owning(handle), end) }
            followRedirects()
            endWaiting()
            writeOut()
            updateConnections()
            if downloads.isEmpty { context.bytes.pieces.shrink() }
            // The end of a download can have added a command to start another.
            multi.poll(milliseconds: maySleep() && context.turns.isIdle ? sleepTime : 0)
        }
        stop()
        context.bytes.finish()
    }

    private func stop() {
        for download in downloads.values {
            download.stop()
            multi.remove(download.request.easy)
        }
        downloads.removeAll()
        for download in cancellations.removeAll() { multi.remove(download.request.easy) }
    }

    private func perform(_ command: TransferLoop.Command) {
        switch command {
        case .start(let id, let key, let url, let hints): begin(id, key, url, hints)
        case .ask(let id, let key, let url, let hints, let question):
            ask(id, key, url, hints, question)
        case .cancel(let id, let key, let discardsPartial): cancel(id, key, discardsPartial)
        case .closeIdleConnections: closeIdleConnections()
        case .configure(let settings):
            context.configure(settings)
            // An idle connection may lead to an address, or through a proxy, that is not permitted any more.
            closeIdleConnections()
        case .discardPartial(let key): discardPartial(key)
        case .advanced(let id): advanced(id)
        case .call(let body): body()
        case .stop: isRunning = false
        }
    }

    private func closeIdleConnections() {
        closesIdleUntil = .now + Self.closingTime
        multi.configure(connections: 1)
    }

    /// Milliseconds until there is work even if nothing happens.
    private var sleepTime: Int32 {
        let deadlines = [
            downloads.values.lazy.compactMap(\.request.deadline).min(),
            downloads.values.lazy.compactMap(\.writingDeadline).min(),
            cancellations.requests.lazy.compactMap(\.deadline).min(),
        ]
        let timeout = deadlines.compactMap(\.self).min()
            .map { ContinuousClock.now.duration(to: $0) }
        let delays = [context.rateLimiter.delay(now: .now), timeout].compactMap(\.self)
        guard let delay = delays.min().map({ max($0, .zero) }) else { return Self.longestSleep }
        return min(Self.longestSleep, Int32(clamping: Int64(delay / .milliseconds(1)) + 1))
    }

    // MARK: Downloads

    func begin(
        _ id: FlightID, _ key: CacheKey, _ url: CacheURL, _ hints: LocalHints
    ) {
        do throws(CurlError) {
            let download =
                hints.isDerived
                ? try Confirmation(id, key, url, hints, context)
                : try Download(id, key, url, hints, context)
            if let confirmation = download as? Confirmation, !confirmation.isPossible {
                return context.delegate.downloadEnded(key, id, .originalNeeded)
            }
            downloads[id] = download
            multi.add(download.request.easy)
        } catch {
            fail(key, id, .curl(error))
        }
    }

    private func finished(_ request: Request, _ end: RequestEnd) {
        request.isComplete = end == .completed
        guard !lookupEnded(request) else { return }
        if let download = downloads[request.flight] {
            download.handOver()
            if download.awaitsWriter {
                ends[download.id] = end
            } else {
                self.end(download, end)
            }
        } else {
            preconditionFailure("libcurl finished a request of no download")
        }
    }

    /// The request of a download ended, and with it the download unless it makes another request.
    func end(_ download: Download, _ end: RequestEnd) {
        download.settle()
        if download.request.isCrowded, !hasConnection(to: download.request.origin) {
            // The connections are of no use to anybody.
            download.plan.needsNewConnection = true
            return requestAgain(download)
        }
        guard !download.plansAnotherRequest(after: end) else { return requestAgain(download) }
        download.request.leaveSilentConnection(end)
        let result = download.finish(end)
        release(download)
        context.delegate.downloadEnded(download.key, download.id, result)
    }

    /// Lets requests have connections of their own that wait for one which turned out to be for HTTP/1.1. libcurl 8 would
    /// wake them one by one, as others end.
    private func stopWaiting() {
        for origin in context.requests.servers.takeNewWithoutHTTP2() {
            for download in downloads.values where download.request.waitsForConnection(to: origin) {
                requestAgain(download)
            }
        }
    }

    private func hasConnection(to origin: String) -> Bool {
        downloads.values.contains {
            ($0.request.hasAsked || $0.request.isConnecting) && $0.request.origin == origin
        }
    }

    private func requestAgain(_ download: Download) {
        remove(download.request)
        do throws(CurlError) {
            try download.requestAgain()
            multi.add(download.request.easy)
        } catch {
            downloads[download.id] = nil
            fail(download.key, download.id, .curl(error))
        }
    }

    private func remove(_ request: Request) {
        request.noteLeft()
        multi.remove(request.easy)
    }

    func release(_ download: Download) {
        remove(download.request)
        download.leaveFile()
        downloads[download.id] = nil
        ends[download.id] = nil
        context.rateLimiter.forget(download.id)
    }

    func fail(_ key: CacheKey, _ id: FlightID, _ failure: Failure) {
        context.delegate.downloadEnded(key, id, .failed(FailedTransfer(failure: failure)))
    }

    /// The writer of a download has done something. A download whose partial is read continues.
    private func advanced(_ id: FlightID) {
        guard let download = downloads[id] else { return }
        let wasRereading = download.isRereading
        download.takeProgress()
        if download.request.failure != nil {
            end(download, .failed(.writeFailed))
        } else if !download.awaitsWriter, let end = ends.removeValue(forKey: id) {
            self.end(download, end)
        } else if wasRereading, !download.isRereading {
            resume(id)
        }
    }

    /// Has the bytes written that have gathered of incomplete images.
    private func writeOut() {
        let now = ContinuousClock.now
        for download in downloads.values {
            if download.hasUnreportedHead {
                download.request.acknowledge()
                download.reportProgress()
            }
            guard let time = download.writingDeadline,
                time <= now || download.piece != nil && context.turns.areAwaitingPieces
            else { continue }
            download.writeOut()
            download.handOver()
            if download.request.failure != nil { end(download, .failed(.writeFailed)) }
        }
    }

    // MARK: Pausing

    /// The next download that the rate limit no longer holds back.
    private func nextUnderRateLimit() -> FlightID? {
        context.rateLimiter.next(
            flow: { id in
                downloads[id].flatMap { context.delegate.flow(of: $0.key, id) }
            }, now: .now)
    }

    /// Continues a paused download. libcurl delivers the piece that it held back within the call.
    private func resume(_ id: FlightID) {
        guard let download = downloads[id] else { return }
        let result = download.request.easy.resume()
        if result != .completed { end(download, result) }
    }

    // MARK: Connections

    /// Follows redirects whose head is there. Their body is not waited for: a script can send a whole page
    /// behind the head. A body that arrived with its head is complete by now, and the connection stays usable.
    private func followRedirects() {
        for download in downloads.values where download.request.redirectTarget != nil {
            end(download, .completed)
        }
    }

    /// Ends requests that wait too long for a connection, also one that another request opens, for a response or for more
    /// of it; see the table in `Request+Quirks.swift`.
    private func endWaiting() {
        let now = ContinuousClock.now
        for download in downloads.values {
            guard let deadline = download.request.deadline, deadline < now,
                ends[download.id] == nil, !hasMoreTime(download)
            else { continue }
            end(download, .failed(.timedOut))
        }
        // They count for their user, whose next downloads would wait.
        for request in Array(cancellations.requests)
        where request.deadline.map({ $0 < now }) ?? false {
            _ = lookupEnded(request)
        }
    }

    /// Ends requests whose connection brings much more than their response. Chunks can have extensions of any length
    /// (RFC 9112 §7.1.1).
    private func endFraming() {
        let now = ContinuousClock.now
        guard nextFramingCheck <= now else { return }
        nextFramingCheck = now + Self.framingInterval
        for download in downloads.values where download.request.hasTooMuchFraming() {
            download.request.fail(.framing)
            download.request.endConnection()
            end(download, .failed(.writeFailed))
        }
    }

    /// Ends the downloads of connections that the guard has shut down.
    private func endGuarded() {
        guard multi.receiveGuard.hasEnded else { return }
        let connections = multi.connections
        for download in downloads.values
        where connections.wasEnded(localPort: download.request.easy.localPort) {
            download.request.fail(.framing)
            end(download, .failed(.writeFailed))
        }
    }

    /// While connections are to be closed: replaces the multi handle as soon as no download needs it, which is
    /// the only way to close all idle connections. Until then each connection is closed when it becomes idle. After
    /// a while connections are kept again, because the downloads that still run need them.
    private func updateConnections() {
        guard let end = closesIdleUntil else { return }
        let isIdle = downloads.isEmpty && cancellations.isEmpty
        guard isIdle || end <= .now else { return }
        if isIdle { multi.renew() }
        multi.configure(connections: context.settings.transferLimit)
        closesIdleUntil = nil
    }
}
