import CLinux
import CacheCore
import CacheWire
import Glibc
import Logging
import Synchronization

/// Watches memory pressure on a thread of its own, and calls a reaction that gives memory back.
///
/// The thread sleeps while there is no pressure, unless the source has to be read at intervals. Thread-safe.
final class PressureMonitor: Sendable {
    /// Gives memory back. The monitor's thread calls it, one call at a time.
    typealias Reaction = @Sendable (PressureReport) -> Void

    /// The state that the thread shares with its callers.
    struct Shared {
        var reactions: PressureReactions
        var state: PressureState
        /// The requests of people that the thread has not handled yet.
        var requests: [PressureReport] = []
        var source = "none"
        /// Called from any thread after each report.
        var observer: (@Sendable () -> Void)?
        var isStopping = false
    }

    let choice: PressureChoice
    let logger: Logger
    let onPressure: Reaction
    private let shared: Mutex<Shared>
    private let thread = Mutex<NamedThread?>(nil)
    /// Wakes the thread. eventfd(2).
    let wakeup: Int32

    init(
        choice: PressureChoice, coolDown: Duration = PressureReactions.usualCoolDown,
        logger: Logger, onPressure: @escaping Reaction
    ) {
        self.choice = choice
        self.logger = logger
        self.onPressure = onPressure
        wakeup = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        precondition(wakeup >= 0, "eventfd failed: error \(errno)")
        shared = Mutex(
            Shared(
                reactions: PressureReactions(coolDown: coolDown),
                state: PressureState(usualValidity: coolDown)))
    }

    deinit {
        close(wakeup)
    }

    /// The source that is watched, for `Stats` and the log; `none` before the start, or if no source could be opened.
    var source: String { shared.withLock { $0.source } }

    /// Opens the best source, then starts the thread that watches it.
    func start() {
        let loop = PressureLoop(self)
        loop.openFirst()
        thread.withLock { $0 = NamedThread("pressure") { loop.run() } }
    }

    /// Stops. Returns when the thread has ended, after a reaction that was running.
    func stop() {
        shared.withLock { $0.isStopping = true }
        wake()
        thread.withLock { $0.take() }?.join()
    }

    /// A person has asked by a signal: reacts at once, on the monitor's thread.
    func request(_ level: PressureLevel, source: String) {
        let report = PressureReport(level: level, cause: .person, source: source)
        shared.withLock { $0.requests.append(report) }
        wake()
    }

    /// A person has asked by a call. This only starts the cool-down; the caller reacts itself, because it has to send
    /// the reply.
    func requested(_ level: PressureLevel) {
        shared.withLock { _ = $0.reactions.requested(level, now: .now) }
        rose(level, validFor: nil)
    }

    /// Enters a report in the state, and calls the observer.
    func rose(_ level: PressureLevel, validFor duration: Duration?) {
        let observer = shared.withLock { shared in
            shared.state.rose(level, validFor: duration, now: .now)
            return shared.observer
        }
        observer?()
    }

    /// Calls `observer` from any thread after each report.
    func observe(_ observer: @escaping @Sendable () -> Void) {
        shared.withLock { $0.observer = observer }
    }

    /// Changes the shared state under the lock.
    func update<Result>(_ body: (inout Shared) -> Result) -> Result {
        shared.withLock { body(&$0) }
    }

    /// write(2).
    private func wake() {
        eventfd_write(wakeup, 1)
    }
}
