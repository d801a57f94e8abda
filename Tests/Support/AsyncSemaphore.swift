import Synchronization

/// A semaphore for tasks.
///
/// One instance limits the number of tests that run at once. Swift Testing starts them all together, and
/// some resources are limited: for example, 128 inotify instances for each user. inotify(7),
/// `max_user_instances`.
final class AsyncSemaphore: Sendable {
    static let runningTests = AsyncSemaphore(count: 48)

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
        var head = 0
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(free: count))
    }

    /// Waits for a free slot, first come, first served.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Frees a slot, or passes it to the next waiter.
    func signal() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.head < state.waiting.count else {
                state.free += 1
                return nil
            }
            defer { state.head += 1 }
            return state.waiting[state.head]
        }
        next?.resume()
    }
}
