import Glibc

/// Installs the signal handlers of this process.
enum Signals {
    /// Turns a broken pipe into an error of write(2), and ends the process with 130 on Ctrl-C.
    /// sigaction(2).
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        interrupt { _ in _exit(ExitStatus.interrupted.rawValue) }
    }

    /// How often Ctrl-C was pressed since ``noteInterrupts()``.
    private nonisolated(unsafe) static var interrupts: sig_atomic_t = 0

    /// Whether Ctrl-C was pressed since ``noteInterrupts()``.
    static var isInterrupted: Bool { interrupts > 0 }

    /// From now on the first Ctrl-C is only noted, so that the command can end with a report. A second one ends the
    /// process.
    static func noteInterrupts() {
        interrupt { _ in
            if Signals.interrupts > 0 { _exit(ExitStatus.interrupted.rawValue) }
            Signals.interrupts = 1
        }
    }

    /// Erases the progress display before a signal ends or stops the program. ``InlineDisplay``
    /// keeps the cursor at the start of the display, so that a handler needs only write(2) and no
    /// state.
    static func eraseDisplayOnSignals() {
        interrupt { _ in
            Signals.eraseDisplay()
            _exit(ExitStatus.interrupted.rawValue)
        }
        for number in [SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] { handle(number, eraseAndReraise) }
    }

    /// Erases the display and lets the default action of the signal happen. If the signal stopped
    /// the program, this function returns when the program continues. signal(7), raise(3).
    private static let eraseAndReraise: @convention(c) (Int32) -> Void = { number in
        Signals.eraseDisplay()
        signal(number, SIG_DFL)
        raise(number)
        // The signal is blocked while its handler runs.
        var one = sigset_t()
        sigemptyset(&one)
        sigaddset(&one, number)
        sigprocmask(SIG_UNBLOCK, &one, nil)
        signal(number, Signals.eraseAndReraise)
    }

    private static func eraseDisplay() {
        let erasure = InlineDisplay.erasure
        _ = write(STDERR_FILENO, erasure.utf8Start, erasure.utf8CodeUnitCount)
    }

    /// Runs `body` with all signals blocked that would end or stop the program. sigprocmask(2).
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

    /// If a signal was ignored when the program started, it stays ignored. A shell ignores signals
    /// for background jobs, and nohup(1) does so for programs that are to outlive the terminal.
    private static func handle(
        _ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void
    ) {
        let before = signal(number, handler)
        if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
            signal(number, SIG_IGN)
        }
    }
}
