import Glibc

/// How the terminal treats what is typed: as before, or every key at once and unseen.
struct TerminalModes {
    private let descriptor: Int32
    private let before: termios

    /// Remembers the modes; `nil` where there is no terminal. tcgetattr(3).
    init?(of descriptor: Int32) {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return nil }
        self.descriptor = descriptor
        before = modes
    }

    /// Keys come one by one and are not shown; those that send signals still do. tcsetattr(3).
    func makeImmediate() {
        var modes = before
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        modes.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR)
        // Not drained first: a terminal that has stopped reading would hold up everything.
        tcsetattr(descriptor, TCSANOW, &modes)
    }

    /// The modes remembered; what was typed and not read is forgotten. tcsetattr(3), tcflush(3).
    func restore() {
        var modes = before
        tcflush(descriptor, TCIFLUSH)
        tcsetattr(descriptor, TCSANOW, &modes)
    }
}
