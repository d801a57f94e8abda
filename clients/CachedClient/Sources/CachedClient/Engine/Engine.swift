internal import CClient
internal import ClientCore
internal import Synchronization

/// Talks to the daemon, on a thread that runs while images are wanted.
///
/// One lock guards the state. The thread does not hold it while it waits or reports to holders.
final class Engine: Sendable {
    private let state: Mutex<EngineState>
    /// An eventfd(2) that ends the thread's wait.
    private let wakeUp: Int32
    private let process = getpid()

    /// The most URLs of one call. The limits of the daemon are far above it.
    static let longestCall = 1000

    init(_ place: DaemonPlace, patience: Duration, script: sending FakeScript? = nil) {
        state = Mutex(EngineState(place, script, patience: max(patience.milliseconds, 0)))
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

    /// Changes the set of images that are wanted with these options, if there is one.
    func change(_ options: StreamOptions, _ body: (Channel) -> Void) {
        request { $0.existingChannel(options).map(body) }
    }

    /// The items of the daemon's reply to a call.
    ///
    /// - Parameter starts: whether a daemon is started if none answers.
    func news(of call: [UInt8], starts: Bool = false) async throws(CacheFailure) -> [News] {
        guard isOwners else { throw .afterFork }
        let outcome: Exchange.Outcome = await withCheckedContinuation { continuation in
            request { state in state.add(call, starts: starts, continuation) }
        }
        switch outcome {
        case .failed(let cause): throw .call(cause)
        case .reply(let reply, let file):
            if file >= 0 { close(file) }
            return try reply.texts.withUnsafeBufferPointer { (texts) throws(CacheFailure) in
                if let error = reply.error, let name = texts.baseAddress.map({ $0 + error }) {
                    throw .refused(by: String(cString: name))
                }
                return reply.events.map { News($0, texts, DaemonPlace(sockets: [])) }
            }
        }
    }

    // MARK: Scripts

    /// The state in the script; `nil` for an image without one.
    func scripted(_ name: ImageName, _ place: DaemonPlace) -> ImageState? {
        state.withLock { $0.script?.withState(of: name) { News($0, $1, place).state } }
    }

    func addState(_ event: Event, _ texts: [UInt8], of name: ImageName) {
        request { $0.addState(event, texts, of: name) }
    }

    // MARK: Observers

    func addObserver(_ buffer: ChangeBuffer) { request { $0.add(buffer) } }

    func removeObserver(_ buffer: ChangeBuffer) { request { $0.watcher?.remove(buffer) } }

    func addObserver(_ observer: PressureObserver) { request { $0.add(observer) } }

    func removeObserver(_ observer: PressureObserver) { request { $0.watcher?.remove(observer) } }

    /// Whether this is the process that made the engine. A child after a fork(2) has no thread, and the lock may
    /// never become free there.
    private var isOwners: Bool { getpid() == process }

    /// Changes the state and wakes the thread, which acts on it. Starts the thread if none runs.
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
