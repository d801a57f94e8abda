/// How a process ended. wait(2).
public enum ExitStatus: Hashable, Sendable, CustomStringConvertible {
    /// It exited with this code.
    case exited(Int32)
    /// This signal ended it.
    case signalled(Int32)

    /// The exit status of a process that succeeded.
    public static let success = ExitStatus.exited(0)

    /// Decodes the status that waitpid(2) wrote.
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited(waitStatus >> 8 & 0xFF) : .signalled(signal)
    }

    /// The exit code; `nil` for a process that a signal ended.
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
