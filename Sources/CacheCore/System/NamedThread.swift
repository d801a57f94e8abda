import CLinux
import Glibc

/// A thread of the daemon's own, named so that `top -H` and a debugger tell what it does.
///
/// Runs `body` once; `join` waits for its end, `detach` says that nobody will. pthread_create(3).
package struct NamedThread: Sendable {
    private let handle: pthread_t

    package init(_ name: String, _ body: @escaping @Sendable () -> Void) {
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
        precondition(failure == 0, "no thread can be started: error \(failure)")
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
