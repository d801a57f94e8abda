internal import CLinux
import CacheFetching
import Glibc
internal import Synchronization

/// The threads that derive images, at most one a core. Each has a process of its own, which ends after a while without
/// work. A thread is started when there is work that the others do not take at once, so there is none at first.
final class Deriver: Sendable {
    private struct State {
        var waiting: [Derivation] = []
        var threads: [NamedThread] = []
        /// Threads that wait for work.
        var idle = 0
        var isFinished = false

        /// The most urgent work; of those the oldest.
        mutating func take() -> Derivation? {
            guard let most = waiting.lazy.map(\.image.priority).max(),
                let index = waiting.firstIndex(where: { $0.image.priority == most })
            else { return nil }
            return waiting.remove(at: index)
        }
    }

    private let state = Mutex(State())
    // A semaphore may be used from any thread; the pointer never changes.
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    private static let cores = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
    /// The time without work after which a process ends.
    private static let idleTime = Duration.seconds(10)

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func enqueue(_ work: Derivation, for cache: Cache) {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.waiting.append(work)
            guard state.waiting.count > state.idle, state.threads.count < Self.cores else { return }
            let thread = NamedThread(ifPossible: "derive") { self.run(for: cache) }
            if let thread { state.threads.append(thread) }
        }
        sem_post(semaphore)
    }

    /// Returns once the threads have ended. An image that is being derived is waited for, for a second at most.
    func finish() {
        let threads = state.withLock { state in
            (state.isFinished, state.waiting) = (true, [])
            return state.threads
        }
        for _ in threads { sem_post(semaphore) }
        for thread in threads { thread.join() }
    }

    private func run(for cache: Cache) {
        var process: DeriverProcess?
        while true {
            state.withLock { $0.idle += 1 }
            if process == nil { sem_wait(semaphore) } else { wait() }
            let (work, isFinished) = state.withLock { state in
                state.idle -= 1
                return (state.take(), state.isFinished)
            }
            if isFinished { return }
            if let work { cache.derive(work, &process) } else { process = nil }
        }
    }

    private func wait() { clinux_wait(semaphore, Int(Self.idleTime / .nanoseconds(1))) }
}
