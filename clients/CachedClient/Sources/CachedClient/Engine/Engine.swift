internal import CClient
internal import ClientCore
internal import Synchronization

/// Talks to the daemon, on a thread that runs while something is wanted.
///
/// Everything is guarded by one lock. The thread waits without it, and reports to holders without it.
final class Engine: Sendable {
    private let state: Mutex<EngineState>
    /// An eventfd(2) that ends the thread's wait.
    private let wakeUp: Int32
    private let process = getpid()

    /// URLs that one call names: far below the limits of the daemon.
    static let longestCall = 1000

    init(_ sockets: Sockets, patience: Duration) {
        let milliseconds =
            patience.components.seconds * 1000
            + patience.components.attoseconds / 1_000_000_000_000_000
        state = Mutex(EngineState(sockets, patience: max(milliseconds, 0)))
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    deinit {
        close(wakeUp)
    }

    // MARK: Requests

    /// Wants an image with these options.
    func add(_ url: String, _ holder: Holder, _ priority: Priority, _ options: StreamOptions) {
        guard isOwners else { return holder.report(News(failed: url, .afterFork)) }
        request { $0.channel(options).add(url, holder, priority) }
    }

    /// Wants other images with the same options.
    func replace(
        _ dropped: [String], by added: [String], _ holder: Holder, _ priority: Priority,
        _ options: StreamOptions
    ) {
        request { state in
            let channel = state.channel(options)
            for url in dropped { channel.remove(url, holder) }
            for url in added { channel.add(url, holder, priority) }
        }
    }

    /// Changes what is wanted with these options, if anything is.
    func change(_ options: StreamOptions, _ body: (Channel) -> Void) {
        request { $0.existingChannel(options).map(body) }
    }

    /// What the daemon replies to a call with items.
    func news(of call: [UInt8]) async throws(CacheFailure) -> [News] {
        guard isOwners else { throw .afterFork }
        let outcome: Exchange.Outcome = await withCheckedContinuation { continuation in
            request { state in state.add(call, continuation) }
        }
        switch outcome {
        case .failed(let cause): throw .call(cause)
        case .reply(let reply, let file):
            if file >= 0 { close(file) }
            return try reply.texts.withUnsafeBufferPointer { (texts) throws(CacheFailure) in
                if let error = reply.error, let name = texts.baseAddress.map({ $0 + error }) {
                    throw .refused(by: String(cString: name))
                }
                return reply.events.map { News($0, texts, Sockets(paths: [])) }
            }
        }
    }

    func addObserver(_ buffer: ChangeBuffer) { request { $0.add(buffer) } }

    func removeObserver(_ buffer: ChangeBuffer) { request { $0.watcher?.remove(buffer) } }

    func addObserver(_ observer: PressureObserver) { request { $0.add(observer) } }

    func removeObserver(_ observer: PressureObserver) { request { $0.watcher?.remove(observer) } }

    /// Whether this is the process that made the engine. Its child after a fork(2) has neither its thread nor a lock
    /// that is sure to be free.
    private var isOwners: Bool { getpid() == process }

    /// Changes the state, and has the thread act on it. It starts the thread if none runs.
    private func request(_ body: (inout EngineState) -> Void?) {
        guard isOwners else { return }
        let mustStart = state.withLock { state in
            _ = body(&state)
            guard !state.isRunning, !state.isIdle else { return false }
            state.isRunning = true
            return true
        }
        if mustStart { start() }
        var one: UInt64 = 1
        _ = write(wakeUp, &one, 8)
    }

    // MARK: The thread

    private func start() {
        let context = Unmanaged.passRetained(self).toOpaque()
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Engine>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, context)
        precondition(
            result == 0, "cannot start the thread of the image cache: pthread_create(3): \(result)")
        pthread_detach(thread)
    }

    private func run() {
        while true {
            let deliveries = state.withLock { $0.turn() }
            for delivery in deliveries { delivery.holder.report(delivery.news) }
            // The reports can have changed the state; then the wait ends at once.
            guard let wait = state.withLock({ $0.prepareToWait() }) else { return }
            wait.forEvents(or: wakeUp)
        }
    }
}
