import NIOCore

/// Work on the event loop that nobody may have to wait for long. What a loop is told to execute it does
/// before it looks at its sockets again, and so is all that follows from it; this is done for a moment at a
/// time, and in between the sockets have their turn.
final class Turns: Sendable {
    private struct State {
        var waiting = CircularBuffer<() -> Void>()
        var isPlanned = false
    }

    /// How long work goes on before the sockets are looked at.
    private static let length = TimeAmount.milliseconds(1)
    /// A time to come is one that the loop waits for, and so looks at its sockets.
    private static let pause = TimeAmount.microseconds(100)

    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    init(loop: any EventLoop) {
        self.loop = loop
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// Does this behind all that waits already.
    func add(_ work: @escaping () -> Void) {
        state.value.waiting.append(work)
        guard !state.value.isPlanned else { return }
        state.value.isPlanned = true
        plan()
    }

    private func plan() {
        loop.assumeIsolated().scheduleTask(in: Self.pause) { self.run() }
    }

    private func run() {
        let end = NIODeadline.now() + Self.length
        repeat {
            guard let work = state.value.waiting.popFirst() else {
                state.value.isPlanned = false
                return
            }
            work()
        } while NIODeadline.now() < end
        plan()
    }
}
