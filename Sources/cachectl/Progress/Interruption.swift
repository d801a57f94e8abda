/// Ctrl-C ended a command that reports what it has done before it exits.
struct Interruption: Error {
    /// Throws if ``Signals`` has noted an interrupt.
    static func check() throws {
        if Signals.isInterrupted { throw Interruption() }
    }
}
