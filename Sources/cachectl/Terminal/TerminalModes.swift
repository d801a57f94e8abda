import Glibc

/// The input modes of a terminal, which can be changed and restored.
struct TerminalModes {
    private let descriptor: Int32
    private let before: termios

    /// Saves the current modes; `nil` if the descriptor is not a terminal. tcgetattr(3).
    init?(of descriptor: Int32) {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return nil }
        self.descriptor = descriptor
        before = modes
    }

    /// Delivers keys one by one and without echo. The keys that send signals still do so.
    /// tcsetattr(3).
    func makeImmediate() {
        var modes = before
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        modes.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
        // Output is not drained first, because a terminal that has stopped reading would block the
        // call.
        tcsetattr(descriptor, TCSANOW, &modes)
    }

    /// Restores the saved modes and drops unread input. tcsetattr(3), tcflush(3).
    func restore() {
        var modes = before
        tcflush(descriptor, TCIFLUSH)
        tcsetattr(descriptor, TCSANOW, &modes)
    }
}
