import Glibc

/// Something that happens once, and that any number of threads may wait for.
///
/// The threads sleep in the kernel; each that wakes lets the next through. sem_wait(3).
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

    /// It has happened; call it once.
    func open() {
        sem_post(semaphore)
    }

    /// Returns once it has happened.
    func wait() {
        while sem_wait(semaphore) != 0 {}
        sem_post(semaphore)
    }
}
