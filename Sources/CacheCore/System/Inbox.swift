internal import CLinux
import Glibc
internal import Synchronization

/// A queue that many threads put into and one thread takes from.
///
/// The waiting thread sleeps in the kernel, and is woken only if it can be asleep. A semaphore is used instead of
/// eventfd(2), because it needs no descriptor. sem_wait(3).
package final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// Whether an urgent element is among them.
        var isUrgent = false
        /// The number of elements for which the waiting thread is woken.
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

    /// Adds an element at the end. Returns `false` after ``close()``, and then drops it.
    ///
    /// - Parameter isUrgent: ends a wait for more elements; see ``takeAll(by:enough:)``.
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

    /// Ends the queue. The reader still takes the elements that are in it.
    package func close() {
        state.withLock { $0.isClosed = true }
        sem_post(semaphore)
    }

    /// Waits for elements and takes them all, oldest first; `nil` once the queue is closed and empty.
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

    /// Waits until a time, an urgent element, or `enough` elements; takes all elements, oldest first.
    /// sem_clockwait(3).
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
