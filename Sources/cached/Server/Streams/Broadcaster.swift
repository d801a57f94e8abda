import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import NIOCore
import Synchronization

/// Reports the changes in the cache to the streams that have subscribed to them. Used on the event loop only.
///
/// It gathers changes for 100 ms and ends of downloads for 20 ms, and encodes an item once, however many streams report
/// it. An end after a pause is reported at once.
final class Broadcaster: Sendable {
    private struct State {
        var index = SubscriptionIndex<UpdateStream>()
        var log = ChangeLog()
        var isTickScheduled = false
        var areEndsScheduled = false
        /// When ends of downloads were last reported.
        var lastEnds = NIODeadline.uptimeNanoseconds(0)
        /// Keys that have changed and are not reported yet.
        var changes: ArraySlice<CacheKey> = []
        /// Whether changes are being reported further up the stack.
        var isReporting = false
        var subscriptions: UInt64 = 0
    }

    /// The values about streams in `Stats`.
    struct Metrics {
        /// Open streams that report changes.
        var streams = 0
        /// Items encoded for them since the daemon started.
        var changesEncoded = 0
    }

    /// How long changes are gathered before they are reported.
    private static let interval = TimeAmount.milliseconds(100)
    /// The same of the ends of downloads. Someone waits for an end; the fraction of a download only has to look right.
    private static let intervalOfEnds = TimeAmount.milliseconds(20)

    private let cache: Cache
    private let replies: ReplyWriter
    private let loop: any EventLoop
    private let timeSlices: LoopTimeSlices
    private let state: NIOLoopBoundBox<State>
    private let counts = Mutex(Metrics())

    init(_ cache: Cache, _ replies: ReplyWriter, loop: any EventLoop, timeSlices: LoopTimeSlices) {
        self.cache = cache
        self.replies = replies
        self.loop = loop
        self.timeSlices = timeSlices
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// Can be read on any thread.
    var metrics: Metrics { counts.withLock { $0 } }

    // MARK: Subscriptions

    /// A subscription to all changes from now on.
    func newSubscription(to subject: Subscription.Subject) -> Subscription {
        // Changes before this moment belong to the state at the beginning of the stream.
        reportChanges()
        state.value.subscriptions += 1
        let id = Subscription.ID(rawValue: state.value.subscriptions)
        return Subscription(id, subject, from: state.value.log.end)
    }

    func add(_ stream: UpdateStream) {
        if state.value.index.isEmpty { cache.observeChanges(true) }
        state.value.index.add(stream, stream.subscription)
        counts.withLock { $0.streams = state.value.index.count }
    }

    func remove(_ stream: UpdateStream) {
        state.value.index.remove(stream.subscription)
        if state.value.index.isEmpty { cache.observeChanges(false) }
        counts.withLock { $0.streams = state.value.index.count }
        // The next tick trims the change log, once for all streams that end together.
        if stream.subscription.isOfAllKeys { scheduleTick() }
    }

    /// Changes the keys that a stream's subscription names.
    func adjust(
        _ stream: UpdateStream, _ subscription: inout Subscription,
        add: [CacheKey: String], drop: [CacheKey]
    ) {
        state.value.index.adjust(stream, &subscription, add: add, drop: drop)
    }

    /// The next changes that a subscription has not reported, encoded for it alone. `nil` if it has fallen behind
    /// the change log.
    func unreported(_ subscription: inout Subscription) -> [EncodedChange]? {
        guard let keys = subscription.takeUnreported(from: state.value.log) else { return nil }
        guard !keys.isEmpty else { return [] }
        let watched = subscription
        return encode(keys, cache.lookup(keys, .announced)) { watched.url(of: $0) }
    }

    func isUpToDate(_ subscription: Subscription) -> Bool {
        subscription.isUpToDate(at: state.value.log.end)
    }

    // MARK: Reports

    /// The cache has changes to report.
    func changesArrived() {
        scheduleTick()
    }

    /// Downloads have ended.
    func endsArrived() {
        guard !state.value.areEndsScheduled else { return }
        state.value.areEndsScheduled = true
        let time = state.value.lastEnds + Self.intervalOfEnds
        loop.assumeIsolated().scheduleTask(deadline: time) { [self] in
            state.value.areEndsScheduled = false
            state.value.lastEnds = .now()
            // If changes are being reported, the next tick has these.
            report(cache.takeEnds)
        }
    }

    private func scheduleTick() {
        guard !state.value.isTickScheduled else { return }
        state.value.isTickScheduled = true
        loop.assumeIsolated().scheduleTask(in: Self.interval) { self.tick() }
    }

    private func tick() {
        state.value.isTickScheduled = false
        trimLog()
        reportChanges()
    }

    private func reportChanges() { report(cache.takeChanges) }

    /// Reports what has changed, unless that is happening already.
    private func report(_ take: () -> Set<CacheKey>) {
        guard !state.value.index.isEmpty, !state.value.isReporting, state.value.changes.isEmpty
        else { return }
        state.value.changes = Array(take())[...]
        reportBatch()
    }

    /// Reports a batch of the changes, and leaves the rest to later time slices of the event loop.
    private func reportBatch() {
        guard !state.value.changes.isEmpty else { return }
        let batch = state.value.index.batch(of: state.value.changes)
        state.value.changes = state.value.changes.dropFirst(batch.count)
        let index = state.value.index
        let keys = batch.filter { index.contains($0) }
        let changes = encode(keys, cache.lookup(keys, .taken), url: index.url)
        state.value.isReporting = true
        for (stream, concerned) in state.value.index.listeners(to: changes) {
            stream.receive(concerned)
        }
        reportToAll(changes)
        state.value.isReporting = false
        if state.value.changes.isEmpty {
            // The cache may have changed in the meantime.
            scheduleTick()
        } else {
            timeSlices.add { self.reportBatch() }
        }
    }

    /// Sends the same reply to all streams that are about all keys and have kept up.
    private func reportToAll(_ changes: [EncodedChange]) {
        guard !changes.isEmpty, !state.value.index.ofAllKeys.isEmpty else { return }
        let start = state.value.log.end
        state.value.log.append(changes.map(\.key))
        var reply = ByteBuffer()
        replies.write(changes, continues: true, to: &reply)
        for stream in state.value.index.ofAllKeys.values {
            stream.receive(changes, reply, from: start, to: state.value.log.end)
        }
        trimLog()
    }

    /// Forgets the changes that all streams have reported.
    private func trimLog() {
        let cursors = state.value.index.ofAllKeys.values.map(\.subscription.cursor)
        state.value.log.forget(upTo: cursors.min() ?? state.value.log.end)
    }

    private func encode(
        _ keys: [CacheKey], _ lookups: [Lookup], url: (CacheKey) -> String?
    ) -> [EncodedChange] {
        counts.withLock { $0.changesEncoded += keys.count }
        return replies.changes(keys, lookups) { url($0) ?? cache.url(of: $0) }
    }
}
