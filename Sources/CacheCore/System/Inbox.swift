import Glibc
internal import Synchronization

/// A queue many threads put into and one thread waits on.
///
/// The waiting thread sleeps in the kernel; putting wakes it only when it may be asleep.
/// eventfd(2) would do too, but a semaphore needs no descriptor. sem_wait(3).
package final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    // A semaphore may be used from any thread; the pointer never changes.
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Adds an element at the end; `false` after ``close()``, when nobody takes it any more.
    @discardableResult
    package func put(_ element: Element) -> Bool {
        let (isOpen, wasEmpty) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.elements.append(element)
            return (true, state.elements.count == 1)
        }
        if wasEmpty { sem_post(semaphore) }
        return isOpen
    }

    /// Lets the reader take what is queued and then end.
    package func close() {
        state.withLock { $0.isClosed = true }
        sem_post(semaphore)
    }

    /// Waits for elements and takes them all, oldest first; `nil` when closed and empty.
    package func takeAll() -> [Element]? {
        while true {
            let taken: [Element]?? = state.withLock { state in
                guard state.elements.isEmpty else {
                    defer { state.elements = [] }
                    return .some(state.elements)
                }
                return state.isClosed ? .some(nil) : .none
            }
            if let taken { return taken }
            sem_wait(semaphore)
        }
    }
}
