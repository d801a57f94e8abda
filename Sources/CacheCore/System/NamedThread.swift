import CLinux
import Glibc

/// A thread of the daemon's own, named so that `top -H` and a debugger tell what it does.
///
/// Runs `body` once; `join` waits for its end, `detach` says that nobody will. pthread_create(3).
package struct NamedThread: Sendable {
    private let handle: pthread_t

    /// A thread there is no doing without: where none can be started, the program ends.
    package init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        guard let thread = NamedThread(ifPossible: name, body) else {
            fatalError(
                "no thread \(name) can be started: raise what limits tasks (ulimit -u, TasksMax)")
        }
        self = thread
    }

    /// `nil` where the user or the machine has as many as it may have.
    package init?(ifPossible name: String, _ body: @escaping @Sendable () -> Void) {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var handle = pthread_t()
        let failure = pthread_create(
            &handle, nil,
            { argument in
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                clinux_name_thread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        guard failure == 0 else {
            start.release()
            return nil
        }
        self.handle = handle
    }

    /// Waits until the thread has ended; call it once. pthread_join(3).
    package func join() {
        pthread_join(handle, nil)
    }

    /// Lets the thread end by itself; call it once, and not ``join()``. pthread_detach(3).
    package func detach() {
        pthread_detach(handle)
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
