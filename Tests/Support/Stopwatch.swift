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
    private let counted: Counted

    public init() {
        let counted = Counted()
        self.counted = counted
        Thread.detachNewThread {
            while counted.look() { Thread.sleep(forTimeInterval: 0.005) }
        }
    }

    deinit {
        counted.stop()
    }

    /// Since it was made.
    public var time: Duration {
        _ = counted.look()
        return counted.time
    }
}

private final class Counted: Sendable {
    private struct State {
        var time = Duration.zero
        var last = ContinuousClock.now
        var isRunning = true
    }

    private let state = Mutex(State())

    var time: Duration { state.withLock(\.time) }

    /// Counts what has passed since the last look; `false` once it was stopped.
    func look() -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            state.time += min(now - state.last, .milliseconds(50))
            state.last = now
            return state.isRunning
        }
    }

    func stop() {
        state.withLock { $0.isRunning = false }
    }
}
