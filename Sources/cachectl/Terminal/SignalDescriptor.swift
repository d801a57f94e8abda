import CLinux
import Glibc

/// Receives signals through a file descriptor, so that the terminal can be restored before a signal
/// takes effect. signalfd(2).
final class SignalDescriptor {
    /// The signals that end the program. The others stop it or report a change of the terminal.
    static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM]
    private static let all = ending + [SIGTSTP, SIGCONT, SIGWINCH]

    let descriptor: Int32
    private var before = sigset_t()

    init() throws(CommandFailure) {
        var signals = Self.set(Self.all)
        sigprocmask(SIG_BLOCK, &signals, &before)
        descriptor = signalfd(-1, &signals, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
        guard descriptor >= 0 else { throw .system("receive signals") }
    }

    deinit {
        close(descriptor)
        sigprocmask(SIG_SETMASK, &before, nil)
    }

    /// Returns the signals since the last call. read(2).
    func read() -> [Int32] {
        var signals: [Int32] = []
        var record = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while Glibc.read(descriptor, &record, size) == size {
            signals.append(Int32(record.ssi_signo))
        }
        return signals
    }

    /// Lets the default action of the signal happen. If it stops the process, this function returns
    /// when the process continues. signal(7), raise(3).
    func reraise(_ number: Int32) {
        var one = Self.set([number])
        signal(number, SIG_DFL)
        raise(number)
        sigprocmask(SIG_UNBLOCK, &one, nil)
        sigprocmask(SIG_BLOCK, &one, nil)
    }

    private static func set(_ numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }
}
