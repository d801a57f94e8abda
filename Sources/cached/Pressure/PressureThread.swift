import CLinux
import Glibc

/// The thread of the pressure monitor, shown as `pressure` by `top -H`. pthread_create(3).
struct PressureThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread that runs the loop to its end.
    init(_ loop: PressureLoop) {
        let argument = Unmanaged.passRetained(loop)
        var handle = pthread_t()
        let failure = pthread_create(
            &handle, nil,
            { argument in
                clinux_name_thread("pressure")
                Unmanaged<PressureLoop>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        precondition(failure == 0, "no thread can be started: error \(failure)")
        self.handle = handle
    }

    /// Waits until the loop has ended; call it once. pthread_join(3).
    func join() {
        pthread_join(handle, nil)
    }
}
