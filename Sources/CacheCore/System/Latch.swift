import Glibc

/// An event that happens once, and that any number of threads can wait for.
///
/// The threads sleep in the kernel, and each one that wakes up wakes the next. sem_wait(3).
final class Latch: Sendable {
    // A semaphore may be used from any thread; the pointer never changes.
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Lets the waiting threads continue. Called once.
    func open() {
        sem_post(semaphore)
    }

    /// Returns once the latch is open.
    func wait() {
        while sem_wait(semaphore) != 0 {}
        sem_post(semaphore)
    }
}
