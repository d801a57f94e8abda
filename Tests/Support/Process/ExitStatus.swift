/// How a process ended. wait(2).
public enum ExitStatus: Hashable, Sendable, CustomStringConvertible {
    /// By itself, with this code.
    case exited(Int32)
    /// By this signal.
    case signalled(Int32)

    /// A process that did what it should.
    public static let success = ExitStatus.exited(0)

    /// Takes apart what waitpid(2) wrote.
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited(waitStatus >> 8 & 0xFF) : .signalled(signal)
    }

    /// The exit code; `nil` for a process that a signal has ended.
    public var code: Int32? {
        if case .exited(let code) = self { code } else { nil }
    }

    public var description: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .signalled(let signal): "signal \(signal)"
        }
    }
}
