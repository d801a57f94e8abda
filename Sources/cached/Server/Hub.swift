import CacheCore
import CacheKey
import NIOCore

/// Leads what the cache reports to the connections that wait for it. Lives on the event loop; the cache
/// may call from any thread.
///
/// Changes are gathered for 100 ms; an item is then encoded once, however many connections watch it.
final class Hub: CacheObserver {
    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var waiting: [InterestID: Connection] = [:]
        var watchers: [CacheKey: [ObjectIdentifier: Connection]] = [:]
        var isTickPlanned = false
        var isDraining = false
        var clients: UInt64 = 0
        var cache: Cache?
        var items: ItemWriter?
    }

    /// How long changes are gathered before they are sent.
    static let pace = TimeAmount.milliseconds(100)

    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    init(loop: any EventLoop) {
        self.loop = loop
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// Gives the hub what it answers with; before the first connection.
    func serve(_ cache: Cache, _ items: ItemWriter) {
        loop.assertInEventLoop()
        state.value.cache = cache
        state.value.items = items
    }

    // MARK: From the cache, on any thread

    func decided(_ outcomes: [Outcome]) {
        loop.execute {
            for outcome in outcomes {
                let connection = self.state.value.waiting.removeValue(forKey: outcome.interest)
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

    /// All connections that are open.
    var connections: [Connection] { Array(state.value.connections.values) }

    /// The end is near: nothing new is begun.
    var isDraining: Bool {
        get { state.value.isDraining }
        set { state.value.isDraining = newValue }
    }

    /// It does not wait any more, and nobody is interested on its behalf.
    func abandon(_ interest: InterestID) {
        state.value.waiting[interest] = nil
        state.value.cache?.leave(interest)
    }

    /// A connection waits for the end of an interest, and wants to hear what changes about some keys.
    func watch(
        _ keys: some Sequence<CacheKey>, for connection: Connection, interest: InterestID
    ) {
        state.value.waiting[interest] = connection
        let wasIdle = state.value.watchers.isEmpty
        for key in keys {
            state.value.watchers[key, default: [:]][ObjectIdentifier(connection)] = connection
        }
        if wasIdle, !state.value.watchers.isEmpty { state.value.cache?.observeChanges(true) }
    }

    func unwatch(_ keys: some Sequence<CacheKey>, for connection: Connection) {
        guard !state.value.watchers.isEmpty else { return }
        for key in keys {
            state.value.watchers[key]?[ObjectIdentifier(connection)] = nil
            if state.value.watchers[key]?.isEmpty == true { state.value.watchers[key] = nil }
        }
        if state.value.watchers.isEmpty { state.value.cache?.observeChanges(false) }
    }

    // MARK: The pace

    private func planTick() {
        guard !state.value.isTickPlanned else { return }
        state.value.isTickPlanned = true
        loop.assumeIsolated().scheduleTask(in: Self.pace) { self.tick() }
    }

    private func tick() {
        state.value.isTickPlanned = false
        guard let cache = state.value.cache, let items = state.value.items else { return }
        let keys = cache.takeChanges().filter { state.value.watchers[$0] != nil }
        var told: [ObjectIdentifier: Connection] = [:]
        for (key, lookup) in zip(keys, cache.lookup(Array(keys))) {
            guard let watchers = state.value.watchers[key] else { continue }
            guard let url = watchers.values.first?.watchedURL(of: key) else { continue }
            var item = ByteBuffer()
            url.withUTF8Bytes { items.write(url: $0, key, lookup, to: &item) }
            for (id, connection) in watchers {
                connection.changed(key, item)
                told[id] = connection
            }
        }
        for connection in told.values { connection.sendChanges() }
    }
}

extension String {
    /// The bytes of the text, without copying them where the text is stored as UTF-8.
    func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var copy = self
        return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
