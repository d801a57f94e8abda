import Dispatch
import Foundation
import Synchronization

/// Measures what a promise allows, on a machine that others share: its time stands still while no program
/// here gets to run, because the host or other programs have the processors.
///
///     let watch = Stopwatch()
///     …
///     #expect(watch.time < .seconds(1))
///
/// It looks at the clock every 5 ms; of the time since the last look at most 50 ms count.
public final class Stopwatch: Sendable {
    private let counted = Counted()
    private let end = DispatchSemaphore(value: 0)

    public init() {
        Thread.detachNewThread { [counted, end] in
            while end.wait(timeout: .now() + .milliseconds(5)) == .timedOut { counted.look() }
        }
    }

    deinit {
        end.signal()
    }

    /// Since it was made.
    public var time: Duration { counted.look() }
}

private final class Counted: Sendable {
    private struct State {
        var time = Duration.zero
        var last = ContinuousClock.now
    }

    private let state = Mutex(State())

    /// Counts what has passed since the last look; the time so far.
    @discardableResult
    func look() -> Duration {
        state.withLock { state in
            let now = ContinuousClock.now
            state.time += min(now - state.last, .milliseconds(50))
            state.last = now
            return state.time
        }
    }
}
