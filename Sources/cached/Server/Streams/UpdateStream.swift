import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import NIOCore
import NIOPosix

/// Sends one connection the changes it has subscribed to. Used on the event loop only.
///
/// A reply is made when the system has taken the one before it, from all that has changed by then. A client that
/// reads slowly gets fewer replies, delays no other client and costs no memory.
final class UpdateStream {
    /// The contents of a reply.
    enum Format {
        /// The reply of `Watch`: items and removed keys.
        case changes
        /// The reply of `Fetch`: items alone, which are compared with a digest. `follows`: images that fail for a
        /// reason that passes are fetched again.
        case items(digest: ContentDigest?, follows: Bool)
    }

    private let connection: ClientConnection
    private let server: ServerContext
    private(set) var subscription: Subscription
    /// `nil` until the call's first reply is made; changes are only collected until then.
    private var format: Format?
    /// The rest of the state at the beginning, which is sent when no change is waiting.
    private var snapshot: WatchSnapshot?
    /// A page of the snapshot is being read. Changes in the meantime are sent after it.
    private var isReadingPage = false
    private var failures = FollowedFailures()
    /// Looks for failures that have passed.
    private var timer: Scheduled<Void>?
    /// A level of memory pressure that has not been sent yet.
    private var pressure: MemoryPressure?
    /// The system has not taken the last reply yet.
    private var isSending = false
    private var isStopped = false

    /// Collects changes from now on, until ``start(_:after:)``.
    ///
    /// - Parameter predecessor: the stream of the same client that this one replaces.
    init(
        for connection: ClientConnection, _ server: ServerContext,
        _ subject: Subscription.Subject, succeeding predecessor: UpdateStream?
    ) {
        self.connection = connection
        self.server = server
        subscription = server.broadcaster.newSubscription(to: subject)
        // Only now: the broadcaster has just reported to the predecessor what had changed before.
        if let predecessor { subscription.succeed(predecessor.subscription) }
        server.broadcaster.add(self)
    }

    /// Sends the snapshot, if there is one, and the changes.
    func start(_ format: Format, after snapshot: WatchSnapshot? = nil) {
        self.format = format
        self.snapshot = snapshot
        sendMore()
    }

    /// Sends nothing more.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        server.broadcaster.remove(self)
        server.pressureNews.remove(self)
        timer?.cancel()
        guard subscription.isLong else { return }
        // If this is the last reference to very many URLs, another thread frees them.
        server.workers.submit(for: .daemon) { [subscription] _ in
            withExtendedLifetime(subscription) {}
        }
    }

    /// Changes the keys that the stream reports.
    func adjust(add: [CacheKey: String], drop: [CacheKey]) {
        guard !isStopped else { return }
        server.broadcaster.adjust(self, &subscription, add: add, drop: drop)
    }

    // MARK: Failures that pass

    /// An image failed for a stream that goes on. It is fetched again if that can help.
    func failed(_ key: CacheKey, _ failure: CacheValues.Failure) {
        failures.failed(key, failure)
        setTimer()
    }

    private func noteFailure(_ change: EncodedChange) {
        if let failure = change.failure { failed(change.key, failure) }
    }

    private func setTimer() {
        guard !isStopped, timer == nil, let time = failures.next else { return }
        // A second that has begun counts as over once it is over.
        let wait = TimeAmount.seconds(max(time - .now, 0)) + .milliseconds(50)
        timer = server.loop.assumeIsolated().scheduleTask(in: wait) { self.retry() }
    }

    private func retry() {
        timer = nil
        // While another call is being answered, the next look finds them still due.
        if connection.calls.running?.isStream == true {
            let due = failures.takeDue(now: .now)
            if !due.isEmpty { connection.calls.fetchAgain(due) }
        }
        setTimer()
    }

    /// Reports memory pressure too, beginning with the level now.
    func watchPressure() {
        pressure = server.pressureNews.level
        server.pressureNews.add(self)
    }

    /// Memory pressure has another level.
    func receive(_ level: MemoryPressure) {
        pressure = level
        sendMore()
    }

    // MARK: From the broadcaster

    /// Some of the keys that the subscription names have changed.
    func receive(_ changes: [EncodedChange]) {
        guard !isStopped else { return }
        guard canSend, server.broadcaster.isUpToDate(subscription) else {
            return subscription.missed(changes.map(\.key))
        }
        send(reply(with: changes))
    }

    /// Keys have changed, and the subscription is about all keys. `reply` is the same for all such streams; the
    /// cursors are the positions in the change log before and after these changes.
    func receive(
        _ changes: [EncodedChange], _ reply: ByteBuffer,
        from start: ChangeLog.Cursor, to end: ChangeLog.Cursor
    ) {
        guard canSend, subscription.isUpToDate(at: start) else { return }
        subscription.reported(upTo: end)
        guard case .downloads = subscription.subject else { return send(reply) }
        let news = subscription.news(in: changes)
        if !news.isEmpty { send(self.reply(with: news)) }
    }

    // MARK: Sending

    /// Sends what has not been sent yet: first the changes, then the next page of the snapshot.
    func sendMore() {
        guard canSend else { return }
        if let level = pressure {
            pressure = nil
            var reply = ByteBuffer()
            let news = Methods.Watch.Reply(items: [], removed: [], pressure: level)
            server.replies.write(Reply(news, continues: true), to: &reply)
            return send(reply)
        }
        guard let changes = server.broadcaster.unreported(&subscription) else {
            return connection.calls.streamFellBehind()
        }
        let news = subscription.news(in: changes)
        if !news.isEmpty {
            send(reply(with: news))
        } else if !changes.isEmpty {
            // None of them concerns this stream. Others get a time slice before the next ones are looked at.
            server.timeSlices.add { self.sendMore() }
        } else if let snapshot {
            sendPage(of: snapshot)
        }
    }

    /// Whether there is anything that has not been sent yet.
    private var hasNews: Bool {
        snapshot != nil || pressure != nil || !server.broadcaster.isUpToDate(subscription)
    }

    private var canSend: Bool {
        !isStopped && format != nil && !isSending && !isReadingPage && connection.isWritable
            && connection.calls.running?.isStream == true
    }

    private func reply(with changes: [EncodedChange]) -> ByteBuffer {
        var reply = ByteBuffer()
        switch format {
        case .items(nil, let follows):
            if follows { changes.forEach(noteFailure) }
            server.replies.writeItems(of: changes, continues: true, to: &reply) { change, reply in
                reply.writeImmutableBuffer(change.item)
            }
        case .items(let digest?, let follows):
            if follows { changes.forEach(noteFailure) }
            // The items encoded for all streams have not been compared with the digest.
            let changed = changes.compactMap {
                let key = $0.key
                return subscription.url(of: key).map { RequestedURL($0, .content(key)) }
            }
            server.writeItems(changed, .announced, continues: true, digest: digest, to: &reply)
        case .changes, nil:
            server.replies.write(changes, continues: true, to: &reply)
        }
        return reply
    }

    /// Sends a reply; once the system has taken it, sends what has changed by then.
    private func send(_ reply: ByteBuffer) {
        isSending = true
        connection.send(reply) { [self] in
            isSending = false
            guard !isStopped, hasNews else { return }
            // In a time slice of its own, so that this stream does not delay others.
            server.timeSlices.add { self.sendMore() }
        }
    }

    /// Sends the next page of the snapshot. A short page is made here, a long one on the pager thread.
    private func sendPage(of snapshot: WatchSnapshot) {
        var snapshot = snapshot
        if snapshot.isShort {
            let page = snapshot.nextPage(from: server)
            return send(page, then: snapshot)
        }
        isReadingPage = true
        let stream = NIOLoopBound(self, eventLoop: server.loop)
        server.pager.submit { [server, snapshot] state in
            guard state == .active else { return }
            var rest = snapshot
            let page = rest.nextPage(from: server)
            server.loop.execute { [rest] in stream.value.pageWasRead(page, then: rest) }
        }
    }

    private func pageWasRead(_ page: WatchSnapshot.Page, then rest: WatchSnapshot) {
        isReadingPage = false
        // If another call is about to take over, the stream's last reply is already written.
        guard !isStopped, connection.calls.running?.isStream == true else { return }
        send(page, then: rest)
    }

    private func send(_ page: WatchSnapshot.Page, then rest: WatchSnapshot) {
        if let downloads = page.downloads { subscription.begin(with: downloads) }
        snapshot = rest.isComplete ? nil : rest
        send(page.reply)
    }
}
