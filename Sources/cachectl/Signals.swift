import Glibc

/// What happens to this process on signals.
enum Signals {
    /// A broken pipe becomes an error of write(2), and Ctrl-C ends with 130. sigaction(2).
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        interrupt { _ in _exit(ExitStatus.interrupted.rawValue) }
    }

    /// Whatever ends or stops the program, the progress display is erased first. ``InlineScreen``
    /// keeps the cursor where the display starts, so that handlers need no state, only write(2).
    static func eraseDisplayOnSignals() {
        interrupt { _ in
            Signals.eraseDisplay()
            _exit(ExitStatus.interrupted.rawValue)
        }
        for number in [SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] { handle(number, eraseAndReraise) }
    }

    /// Lets the signal do what it does by default, and goes on if the program does: then it was stopped,
    /// and now continues. signal(7), raise(3).
    private static let eraseAndReraise: @convention(c) (Int32) -> Void = { number in
        Signals.eraseDisplay()
        signal(number, SIG_DFL)
        raise(number)
        // It is held back while it is handled.
        var one = sigset_t()
        sigemptyset(&one)
        sigaddset(&one, number)
        sigprocmask(SIG_UNBLOCK, &one, nil)
        signal(number, Signals.eraseAndReraise)
    }

    private static func eraseDisplay() {
        let erase = InlineScreen.erase
        _ = write(STDERR_FILENO, erase.utf8Start, erase.utf8CodeUnitCount)
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

    private static func interrupt(_ handler: @escaping @convention(c) (Int32) -> Void) {
        handle(SIGINT, handler)
    }

    /// A signal ignored from the start stays ignored: a shell did that for a job in the background,
    /// nohup(1) for one that is to outlive the terminal.
    private static func handle(
        _ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void
    ) {
        let before = signal(number, handler)
        if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
            signal(number, SIG_IGN)
        }
    }
}
