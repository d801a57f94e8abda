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
        /// Those that watch so many keys that they are asked one by one in place of being noted by key.
        var longWatchers: [ObjectIdentifier: Connection] = [:]
        var isTickPlanned = false
        /// Keys that changed and are not told yet.
        var changes: ArraySlice<CacheKey> = []
        var isDraining = false
        var clients: UInt64 = 0
        var cache: Cache?
        var items: ItemWriter?
    }

    /// How long changes are gathered before they are sent.
    static let pace = TimeAmount.milliseconds(100)
    /// Changes told in one turn of the event loop.
    private static let stretch = 512

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

    /// A connection waits for the end of a call, and wants to hear what changes about what it watches.
    func watch(_ call: FetchCall, for connection: Connection) {
        state.value.waiting[call.interest] = connection
        guard call.isStream, !call.watched.isEmpty else { return }
        let wasObserved = isObserved
        let id = ObjectIdentifier(connection)
        if call.isLong {
            state.value.longWatchers[id] = connection
        } else {
            for key in call.watched.keys {
                state.value.watchers[key, default: [:]][id] = connection
            }
        }
        if !wasObserved { state.value.cache?.observeChanges(true) }
    }

    /// It does not wait any more.
    func unwatch(_ call: FetchCall, for connection: Connection) {
        state.value.waiting[call.interest] = nil
        guard isObserved else { return }
        let id = ObjectIdentifier(connection)
        if call.isLong {
            state.value.longWatchers[id] = nil
        } else {
            for key in call.watched.keys {
                state.value.watchers[key]?[id] = nil
                if state.value.watchers[key]?.isEmpty == true { state.value.watchers[key] = nil }
            }
        }
        if !isObserved { state.value.cache?.observeChanges(false) }
    }

    /// Whether anybody watches anything.
    private var isObserved: Bool {
        !state.value.watchers.isEmpty || !state.value.longWatchers.isEmpty
    }

    // MARK: The pace

    private func planTick() {
        guard !state.value.isTickPlanned else { return }
        state.value.isTickPlanned = true
        loop.assumeIsolated().scheduleTask(in: Self.pace) { self.tick() }
    }

    private func tick() {
        state.value.isTickPlanned = false
        guard let cache = state.value.cache else { return }
        let isTelling = !state.value.changes.isEmpty
        state.value.changes += cache.takeChanges()
        if !isTelling { tell() }
    }

    /// Tells of changes, some at a time, so that very many hold up nobody.
    private func tell() {
        guard let cache = state.value.cache, let items = state.value.items else { return }
        let stretch = state.value.changes.prefix(Self.stretch)
        state.value.changes = state.value.changes.dropFirst(stretch.count)
        let keys = stretch.filter { !watchers(of: $0).isEmpty }
        var told: [ObjectIdentifier: Connection] = [:]
        for (key, lookup) in zip(keys, cache.lookup(keys)) {
            let watchers = watchers(of: key)
            guard let url = watchers.values.first?.watchedURL(of: key) else { continue }
            var item = ByteBuffer()
            url.withUTF8Bytes { items.write(url: $0, key, lookup, to: &item) }
            for (id, connection) in watchers {
                connection.changed(key, item)
                told[id] = connection
            }
        }
        for connection in told.values { connection.sendChanges() }
        if !state.value.changes.isEmpty { loop.execute { self.tell() } }
    }

    private func watchers(of key: CacheKey) -> [ObjectIdentifier: Connection] {
        var watchers = state.value.watchers[key] ?? [:]
        for (id, connection) in state.value.longWatchers where connection.watchedURL(of: key) != nil
        {
            watchers[id] = connection
        }
        return watchers
    }
}

extension String {
    /// The bytes of the text, without copying them where the text is stored as UTF-8.
    func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var copy = self
        return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
