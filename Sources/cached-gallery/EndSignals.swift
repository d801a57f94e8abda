import Glibc

/// The signals that end the program. They wait until this thread takes one.
struct EndSignals {
    private var set = sigset_t()

    /// Blocks the signals in this thread and in those that it starts. pthread_sigmask(3).
    init() {
        sigemptyset(&set)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits until one arrives. sigwait(3).
    func wait() {
        var number: Int32 = 0
        _ = withUnsafePointer(to: set) { sigwait($0, &number) }
    }

    /// Lets ``wait()`` return. kill(2).
    static func end() {
        kill(getpid(), SIGTERM)
    }
}
