import Glibc

/// Signals that wait until a thread takes them.
package struct HeldSignals: Sendable {
    private let set: sigset_t

    /// Holds signals that this thread gets, and those that it starts from here on. pthread_sigmask(3).
    package init(_ numbers: Int32...) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        self.set = set
    }

    /// Waits for the next one. sigwait(3).
    package func next() -> Int32 {
        var number: Int32 = 0
        _ = withUnsafePointer(to: set) { sigwait($0, &number) }
        return number
    }

    /// Ends the program as if somebody else had sent the signal for that. kill(2).
    package static func end() {
        kill(getpid(), SIGTERM)
    }
}
