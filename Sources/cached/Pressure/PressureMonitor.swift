import CLinux
import CacheCore
import CacheWire
import Glibc
import Logging
import Synchronization

/// Watches for memory pressure on a thread of its own and says when to give memory back.
///
/// Sleeps while nothing happens, unless the source can only be read at intervals. Thread-safe.
final class PressureMonitor: Sendable {
    /// Gives memory back; called on the monitor's thread, one at a time, with the level and who said so.
    typealias Reaction = @Sendable (_ level: PressureLevel, _ source: String) -> Void

    /// What the thread shares with its callers.
    struct Shared {
        var reactions: PressureReactions
        var requests: [Request] = []
        var source = "none"
        var isStopping = false
    }

    /// What a person asked for.
    struct Request {
        var level: PressureLevel
        var source: String
    }

    let settings: PressureSettings
    let choice: PressureChoice
    let logger: Logger
    let onPressure: Reaction
    private let shared: Mutex<Shared>
    private let thread = Mutex<NamedThread?>(nil)
    /// Wakes the thread. eventfd(2).
    let wakeup: Int32

    init(
        _ settings: PressureSettings, choice: PressureChoice, logger: Logger,
        onPressure: @escaping Reaction
    ) {
        self.settings = settings
        self.choice = choice
        self.logger = logger
        self.onPressure = onPressure
        wakeup = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        precondition(wakeup >= 0, "the monitor can't be woken: error \(errno)")
        shared = Mutex(Shared(reactions: PressureReactions(coolDown: settings.coolDown)))
    }

    deinit {
        close(wakeup)
    }

    /// What is watched, for `Stats` and the log; `none` if nothing could be opened, or before the start.
    var source: String { shared.withLock { $0.source } }

    /// Opens the best source and begins to watch it; both have happened when this returns.
    func start() {
        let loop = PressureLoop(self)
        loop.openFirst()
        thread.withLock { $0 = NamedThread("pressure") { loop.run() } }
    }

    /// Ends; returns once the thread is done, and with it a reaction that runs.
    func stop() {
        shared.withLock { $0.isStopping = true }
        wake()
        thread.withLock { $0.take() }?.join()
    }

    /// A person asked, by a signal: reacts at once, on the monitor's thread.
    func request(_ level: PressureLevel, source: String) {
        shared.withLock { $0.requests.append(Request(level: level, source: source)) }
        wake()
    }

    /// A person asked and the caller reacts itself, because it has to answer: only begins the cool-down.
    func requested(_ level: PressureLevel) {
        shared.withLock { _ = $0.reactions.requested(level, now: .now) }
    }

    /// The one access to what is shared.
    func update<Result>(_ body: (inout Shared) -> Result) -> Result {
        shared.withLock { body(&$0) }
    }

    /// write(2).
    private func wake() {
        eventfd_write(wakeup, 1)
    }
}
