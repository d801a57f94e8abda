import CLinux
import Glibc

/// A thread of the daemon, with a name that `top -H` and a debugger show.
///
/// Runs `body` once; ``join()`` waits for its end. pthread_create(3).
package struct NamedThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread that the program can't do without. If that fails, the program ends.
    package init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        guard let thread = NamedThread(ifPossible: name, body) else {
            fatalError(
                "the thread \(name) can't be started; raise the limit of tasks (ulimit -u, TasksMax)"
            )
        }
        self = thread
    }

    /// Starts a thread; `nil` if the user or the machine has reached its limit.
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

    /// Waits until the thread has ended. Called once. pthread_join(3).
    package func join() {
        pthread_join(handle, nil)
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
