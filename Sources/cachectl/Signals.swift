import Glibc

/// What happens to this process on signals.
enum Signals {
    /// A broken pipe becomes an error of write(2), and Ctrl-C ends with 130. sigaction(2).
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        interrupt { _ in _exit(ExitStatus.interrupted.rawValue) }
    }

    /// Ctrl-C erases the progress display first. ``InlineScreen`` keeps the cursor where the
    /// display starts, so that the handler needs no state, only write(2) and _exit(2).
    static func eraseDisplayOnInterrupt() {
        interrupt { _ in
            let erase = InlineScreen.erase
            _ = write(STDERR_FILENO, erase.utf8Start, erase.utf8CodeUnitCount)
            _exit(ExitStatus.interrupted.rawValue)
        }
    }

    /// Runs `body` with Ctrl-C, and whatever else would end or stop the program, held back until it is
    /// done. sigprocmask(2).
    static func withoutInterruption<Value>(_ body: () -> Value) -> Value {
        var signals = sigset_t()
        var before = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] { sigaddset(&signals, number) }
        sigprocmask(SIG_BLOCK, &signals, &before)
        defer { sigprocmask(SIG_SETMASK, &before, nil) }
        return body()
    }

    /// A signal ignored from the start stays ignored: a shell did that for a job in the background.
    private static func interrupt(_ handler: @escaping @convention(c) (Int32) -> Void) {
        let before = signal(SIGINT, handler)
        if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
            signal(SIGINT, SIG_IGN)
        }
    }
}
