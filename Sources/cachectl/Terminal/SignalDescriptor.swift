import CLinux
import Glibc

/// Signals as something to read instead of something that strikes, so that the terminal is given
/// back before any of them takes effect. signalfd(2).
final class SignalDescriptor {
    /// Those that end the program, stop it, or say that the terminal has changed.
    static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM]
    private static let all = ending + [SIGTSTP, SIGCONT, SIGWINCH]

    let descriptor: Int32
    private var before = sigset_t()

    init() throws(CommandFailure) {
        var signals = Self.set(Self.all)
        sigprocmask(SIG_BLOCK, &signals, &before)
        descriptor = signalfd(-1, &signals, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
        guard descriptor >= 0 else {
            throw CommandFailure(
                status: .inputOutput,
                message: "cannot receive signals: \(String(cString: strerror(errno)))")
        }
    }

    deinit {
        close(descriptor)
        sigprocmask(SIG_SETMASK, &before, nil)
    }

    /// The signals that came since the last time. read(2).
    func read() -> [Int32] {
        var signals: [Int32] = []
        var record = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while Glibc.read(descriptor, &record, size) == size {
            signals.append(Int32(record.ssi_signo))
        }
        return signals
    }

    /// Lets a signal do what it does by default: end this process, or stop it, in which case this
    /// returns when it goes on. signal(7), raise(3).
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
