import CacheCore
import CacheKey
import NIOCore
import Synchronization

/// Leads what the cache reports to the connections that wait for it. Lives on the event loop; the cache
/// may call from any thread.
///
/// Changes are gathered for 100 ms; an item is then encoded once, however many connections watch it.
final class Hub: CacheObserver {
    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var waiting: [WaiterID: Connection] = [:]
        var halfMessages = HalfMessages<Connection>(limit: Hub.halfMessagesLimit)
        var audience = Audience<Connection>()
        var log = ChangeLog()
        var isTickPlanned = false
        /// Keys that changed and are not told yet.
        var changes: ArraySlice<CacheKey> = []
        /// Changes are being told right now, further up the stack.
        var isTelling = false
        var isDraining = false
        var clients: UInt64 = 0
        var subscriptions: UInt64 = 0
        var cache: Cache?
        var replies: ReplyWriter?
    }

    /// Counts for `Stats`.
    struct Figures {
        /// Streams that tell of changes.
        var watchers = 0
        /// Items encoded for them since the start.
        var changesEncoded = 0
    }

    /// Bytes all messages may have together of which the end has not come.
    static let halfMessagesLimit = 256 << 20
    /// How long changes are gathered before they are sent.
    static let pace = TimeAmount.milliseconds(100)

    private let loop: any EventLoop
    /// What is told to many has to wait for what is asked by others.
    let turns: Turns
    private let state: NIOLoopBoundBox<State>
    private let counted = Mutex(Figures())

    init(loop: any EventLoop) {
        self.loop = loop
        turns = Turns(loop: loop)
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// Gives the hub what it answers with; before the first connection.
    func serve(_ cache: Cache, _ replies: ReplyWriter) {
        loop.assertInEventLoop()
        state.value.cache = cache
        state.value.replies = replies
    }

    /// Asked from any thread.
    var figures: Figures { counted.withLock { $0 } }

    // MARK: From the cache, on any thread

    func decided(_ outcomes: [Outcome]) {
        loop.execute {
            for outcome in outcomes {
                let connection = self.state.value.waiting.removeValue(forKey: outcome.waiter)
                connection?.fetchDecided(outcome)
            }
        }
    }

    func changesArrived() {
        loop.execute { self.planTick() }
    }

    // MARK: From connections, on the event loop

    /// An identity no other connection has or had.
    func nextClient() -> ClientID {
        state.value.clients += 1
        return ClientID(rawValue: state.value.clients)
    }

    func opened(_ connection: Connection) {
        state.value.connections[ObjectIdentifier(connection)] = connection
    }

    func closed(_ connection: Connection) {
        state.value.connections[ObjectIdentifier(connection)] = nil
    }

    /// A connection waits for the rest of its message, of which it holds so many bytes; for none at 0.
    func waitsForRest(_ connection: Connection, of bytes: Int) {
        while let silent = state.value.halfMessages.note(bytes, of: connection) {
            silent.giveUpMessage()
        }
    }

    /// All connections that are open.
    var connections: [Connection] { Array(state.value.connections.values) }

    /// The end is near: nothing new is begun.
    var isDraining: Bool {
        get { state.value.isDraining }
        set { state.value.isDraining = newValue }
    }

    /// A connection waits for the end of a call.
    func wait(for interest: WaiterID, _ connection: Connection) {
        state.value.waiting[interest] = connection
    }

    /// It does not wait any more.
    func stopWaiting(for interest: WaiterID) {
        state.value.waiting[interest] = nil
    }

    /// A connection wants to hear what changes from now on.
    func subscribe(_ connection: Connection, to subject: Subscription.Subject) -> Subscription {
        // What changed before belongs to the state at the beginning.
        tellChanges()
        state.value.subscriptions += 1
        let id = SubscriptionID(rawValue: state.value.subscriptions)
        let subscription = Subscription(id, subject, from: state.value.log.end)
        if state.value.audience.isEmpty { state.value.cache?.observeChanges(true) }
        state.value.audience.add(connection, subscription)
        counted.withLock { $0.watchers = state.value.audience.count }
        return subscription
    }

    /// It does not any more.
    func unsubscribe(_ subscription: Subscription) {
        state.value.audience.remove(subscription)
        if state.value.audience.isEmpty { state.value.cache?.observeChanges(false) }
        counted.withLock { $0.watchers = state.value.audience.count }
        // Others may leave with it: what they kept from being forgotten is looked for once.
        if subscription.isOfEverything { planTick() }
    }

    /// The next changes a subscription was not told of, encoded for it alone; `nil` where they are too many
    /// to be remembered.
    func untold(_ subscription: inout Subscription) -> [Change]? {
        guard let keys = subscription.takeUntold(from: state.value.log) else { return nil }
        let lookups = state.value.cache?.lookup(keys, .announced) ?? []
        let watched = subscription
        return encode(keys, lookups) { watched.url(of: $0) }
    }

    /// Whether there is something a subscription was not told of.
    func isUpToDate(_ subscription: Subscription) -> Bool {
        subscription.isUpToDate(at: state.value.log.end)
    }

    // MARK: The pace

    private func planTick() {
        guard !state.value.isTickPlanned else { return }
        state.value.isTickPlanned = true
        loop.assumeIsolated().scheduleTask(in: Self.pace) { self.tick() }
    }

    private func tick() {
        state.value.isTickPlanned = false
        forgetTold()
        tellChanges()
    }

    /// Tells what has changed, unless that is being done.
    private func tellChanges() {
        guard let cache = state.value.cache, !state.value.audience.isEmpty,
            !state.value.isTelling, state.value.changes.isEmpty
        else { return }
        state.value.changes = Array(cache.takeChanges())[...]
        tell()
    }

    /// Tells of changes, some at a time, so that very many hold up nobody.
    private func tell() {
        guard let cache = state.value.cache, !state.value.changes.isEmpty else { return }
        let stretch = state.value.audience.turn(of: state.value.changes)
        state.value.changes = state.value.changes.dropFirst(stretch.count)
        let audience = state.value.audience
        let keys = stretch.filter { audience.watches($0) }
        let changes = encode(keys, cache.lookup(keys, .taken), url: audience.url)
        state.value.isTelling = true
        tellNamed(changes)
        tellOfEverything(changes)
        state.value.isTelling = false
        // What changes meanwhile waits for the end of this.
        if state.value.changes.isEmpty { planTick() } else { turns.add { self.tell() } }
    }

    /// What is named by somebody, each to those who named it.
    private func tellNamed(_ changes: [Change]) {
        for (id, listener, heard) in state.value.audience.listeners(to: changes) {
            listener.hear(heard, id)
        }
    }

    /// The same reply for all who are told everything and have kept up.
    private func tellOfEverything(_ changes: [Change]) {
        guard !changes.isEmpty, !state.value.audience.ofEverything.isEmpty else { return }
        let before = state.value.log.end
        state.value.log.append(changes.map(\.key))
        var reply = ByteBuffer()
        state.value.replies?.write(changes, continues: true, to: &reply)
        for (id, connection) in state.value.audience.ofEverything {
            connection.hear(changes, reply, from: before, to: state.value.log.end, id)
        }
        forgetTold()
    }

    /// Forgets what everybody was told.
    private func forgetTold() {
        let cursors = state.value.audience.ofEverything.values.compactMap(\.subscription?.cursor)
        state.value.log.forget(upTo: cursors.min() ?? state.value.log.end)
    }

    private func encode(
        _ keys: [CacheKey], _ lookups: [Lookup], url: (CacheKey) -> String?
    ) -> [Change] {
        guard let cache = state.value.cache, let replies = state.value.replies else { return [] }
        counted.withLock { $0.changesEncoded += keys.count }
        return replies.changes(keys, lookups) { url($0) ?? cache.url(of: $0) }
    }
}

extension String {
    /// The bytes of the text, without copying them where the text is stored as UTF-8.
    func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var copy = self
        return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
