import NIOCore

/// Long work on the event loop, done in slices of about one millisecond so that it delays no client.
///
/// An event loop runs everything passed to `execute` before it looks at its sockets again, including the work that
/// such work adds. So the next slice is scheduled for a short time later: the loop looks at its sockets while
/// it waits for that time.
final class LoopTimeSlices: Sendable {
    private struct State {
        var waiting = CircularBuffer<() -> Void>()
        var isScheduled = false
    }

    /// How long a slice lasts.
    private static let length = TimeAmount.milliseconds(1)
    private static let pause = TimeAmount.microseconds(100)

    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    init(loop: any EventLoop) {
        self.loop = loop
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// Does the work after all work that was added before.
    func add(_ work: @escaping () -> Void) {
        state.value.waiting.append(work)
        guard !state.value.isScheduled else { return }
        state.value.isScheduled = true
        schedule()
    }

    private func schedule() {
        loop.assumeIsolated().scheduleTask(in: Self.pause) { self.run() }
    }

    private func run() {
        let end = NIODeadline.now() + Self.length
        repeat {
            guard let work = state.value.waiting.popFirst() else {
                state.value.isScheduled = false
                return
            }
            work()
        } while NIODeadline.now() < end
        schedule()
    }
}
