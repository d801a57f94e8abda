internal import ClientCore
internal import Synchronization

/// The states of one image: first ``initial``, then each new one, until it is cached or has failed.
///
/// A slow reader gets the newest state, never a backlog.
public struct ImageLoad: AsyncSequence, Sendable {
    public typealias Element = ImageState
    public typealias Failure = Never

    /// The state in the directory when the load was made. It is known without waiting, so nothing flickers when a
    /// cell comes back on the screen.
    public let initial: ImageState

    public var url: String { request.url }

    private let request: ImageRequest
    /// Whether the first state is also the last.
    private let isSettled: Bool
    private let engine: Engine
    private let share: Share

    init(_ request: ImageRequest, initial: ImageState, isSettled: Bool, _ engine: Engine) {
        self.request = request
        self.initial = initial
        self.isSettled = isSettled
        self.engine = engine
        share = Share(request.priority)
    }

    /// Changes the urgency for this load alone. The download has the highest urgency of all callers.
    public func setPriority(_ priority: Priority) {
        let holders = share.setPriority(priority)
        guard !holders.isEmpty else { return }
        engine.change(request.options) { channel in
            for holder in holders { channel.setPriority(priority, request.url, holder) }
        }
    }

    /// Starts to want the image.
    public func makeAsyncIterator() -> Iterator {
        Iterator(first: initial, rest: isSettled ? nil : changes().makeAsyncIterator())
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var first: ImageState?
        fileprivate var rest: AsyncStream<ImageState>.Iterator?

        fileprivate init(first: ImageState, rest: AsyncStream<ImageState>.Iterator?) {
            self.first = first
            self.rest = rest
        }

        /// Waits for the next state; `nil` after the last, or if the task is cancelled.
        public mutating func next() async -> ImageState? {
            await next(isolation: nil)
        }

        /// Waits for the next state; `nil` after the last, or if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ImageState? {
            if let first {
                self.first = nil
                return first
            }
            return await rest?.next(isolation: actor)
        }
    }

    private func changes() -> AsyncStream<ImageState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (engine, url, options, share) = (engine, request.url, request.options, share)
            let mustRefresh = request.refresh
            let isCached = if case .cached = initial { true } else { false }
            let latest = Mutex(initial)
            let holder = Holder { news in
                // The image that was cached before a refresh does not end the refresh.
                if mustRefresh, news.isRefreshed { return }
                // Without a daemon, nothing better than the stale image can be had.
                if case .failed(let failure) = news.state, failure.kind == .noDaemon, isCached,
                    !mustRefresh
                {
                    return continuation.finish()
                }
                let isNew = latest.withLock { latest in
                    defer { latest = news.state }
                    return latest != news.state
                }
                // A refresh can confirm the image as it was.
                if isNew || mustRefresh { continuation.yield(news.state) }
                if news.state.isFinal, !news.isRefreshed { continuation.finish() }
            }
            continuation.onTermination = { _ in
                share.remove(holder)
                engine.change(options) { $0.remove(url, holder) }
            }
            engine.add(url, holder, share.add(holder), options)
            // The priority can have been changed in between.
            let priority = share.priority
            engine.change(options) { $0.setPriority(priority, url, holder) }
        }
    }
}

/// State that the iterations of one load share.
private final class Share: Sendable {
    private let state: Mutex<(priority: Priority, holders: [Holder])>

    init(_ priority: Priority) {
        state = Mutex((priority, []))
    }

    var priority: Priority { state.withLock { $0.priority } }

    func add(_ holder: Holder) -> Priority {
        state.withLock { state in
            state.holders.append(holder)
            return state.priority
        }
    }

    func remove(_ holder: Holder) {
        state.withLock { $0.holders.removeAll { $0 === holder } }
    }

    func setPriority(_ priority: Priority) -> [Holder] {
        state.withLock { state in
            state.priority = priority
            return state.holders
        }
    }
}
