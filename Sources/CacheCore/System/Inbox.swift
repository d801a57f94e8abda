internal import CLinux
import Glibc
internal import Synchronization

/// A queue many threads put into and one thread waits on.
///
/// The waiting thread sleeps in the kernel; putting wakes it only when it may be asleep.
/// eventfd(2) would do too, but a semaphore needs no descriptor. sem_wait(3).
package final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// One of them can't wait for more.
        var isUrgent = false
        /// So many are worth waking for.
        var enough = 1
        var isClosed = false

        mutating func take() -> [Element] {
            defer { (elements, isUrgent, enough) = ([], false, 1) }
            return elements
        }
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
    ///
    /// - Parameter isUrgent: ends a wait for more, see ``takeAll(by:enough:)``.
    @discardableResult
    package func put(_ element: Element, isUrgent: Bool = true) -> Bool {
        let (isOpen, wakes) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.elements.append(element)
            let wakes = state.elements.count == state.enough || isUrgent && !state.isUrgent
            state.isUrgent = state.isUrgent || isUrgent
            return (true, wakes)
        }
        if wakes { sem_post(semaphore) }
        return isOpen
    }

    /// How many wait to be taken, and whether an urgent one is among them.
    package var waiting: (count: Int, isUrgent: Bool) {
        state.withLock { ($0.elements.count, $0.isUrgent) }
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
                guard state.elements.isEmpty else { return .some(state.take()) }
                return state.isClosed ? .some(nil) : .none
            }
            if let taken { return taken }
            sem_wait(semaphore)
        }
    }

    /// Waits until a time, until something urgent is there, or as many as are enough; takes all there is,
    /// oldest first. sem_clockwait(3).
    package func takeAll(by time: ContinuousClock.Instant, enough: Int = .max) -> [Element] {
        while true {
            let left = time - .now
            let taken: [Element]? = state.withLock { state in
                guard !state.isUrgent, !state.isClosed, left > .zero, state.elements.count < enough
                else { return state.take() }
                state.enough = enough
                return nil
            }
            if let taken { return taken }
            clinux_wait(semaphore, Int(left / .nanoseconds(1)))
        }
    }
}
