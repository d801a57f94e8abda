import Dispatch
import Synchronization

/// A value behind a lock that a task can wait on.
///
/// After every change, and still under the lock, each waiter checks the new state. So a waiter sees the
/// first state that satisfies it, even if the next change reverts it. Waiting blocks no thread.
final class Monitor<State: Sendable>: Sendable {
    private struct Guarded {
        var state: State
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    /// Checks a new state; `look` returns true when the waiter is satisfied and can be removed.
    private struct Waiter {
        let look: (State) -> Bool
        let giveUp: (any Error) -> Void
    }

    private let guarded: Mutex<Guarded>

    init(_ state: State) {
        guarded = Mutex(Guarded(state: state))
    }

    var value: State {
        guarded.withLock { $0.state }
    }

    /// Reads a part of the state without retaining the rest, which the next change would then copy.
    func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
        guarded.withLock { body($0.state) }
    }

    /// Changes the state and lets the waiters check the result.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        guarded.withLock { guarded in
            let result = body(&guarded.state)
            for (id, waiter) in guarded.waiters where waiter.look(guarded.state) {
                guarded.waiters[id] = nil
            }
            return result
        }
    }

    /// Waits until `condition` yields a value, and returns it.
    ///
    /// - Throws: `TestFailure` that names `what` after `limit`; `CancellationError`.
    func wait<Result: Sendable>(
        for what: @autoclosure @escaping @Sendable () -> String,
        within limit: Duration,
        until condition: @escaping @Sendable (State) -> Result?
    ) async throws -> Result {
        let id = guarded.withLock { guarded in
            guarded.nextWaiter += 1
            return guarded.nextWaiter
        }
        let deadline = DispatchTime.now() + .milliseconds(Int(limit.milliseconds))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enroll(id, continuation, condition)
                DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in
                    self?.giveUp(id) { TestFailure.timedOut(what(), after: limit) }
                }
            }
        } onCancel: {
            giveUp(id) { CancellationError() }
        }
    }

    private func enroll<Result: Sendable>(
        _ id: Int,
        _ continuation: CheckedContinuation<Result, any Error>,
        _ condition: @escaping @Sendable (State) -> Result?
    ) {
        guarded.withLock { guarded in
            // Cancellation can come before the waiter is enrolled; its handler then found no waiter.
            if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
            if let result = condition(guarded.state) {
                return continuation.resume(returning: result)
            }
            guarded.waiters[id] = Waiter(
                look: { state in
                    guard let result = condition(state) else { return false }
                    continuation.resume(returning: result)
                    return true
                },
                giveUp: { continuation.resume(throwing: $0) })
        }
    }

    private func giveUp(_ id: Int, because error: () -> any Error) {
        guarded.withLock { guarded in
            guarded.waiters.removeValue(forKey: id)?.giveUp(error())
        }
    }
}
