import CacheWire

/// The stall that counts as a level: how long tasks wait for memory within a window.
///
/// The kernel accepts it as a line like `some 200000 2000000`: the kind, then both times in microseconds.
/// Documentation/accounting/psi.rst.
struct PressureTrigger: Sendable, Hashable {
    /// The tasks that wait.
    enum Kind: String, Sendable {
        /// At least one task.
        case some
        /// All tasks that have work to do.
        case full
    }

    var level: PressureLevel
    var kind: Kind
    /// The waiting time that counts as this level.
    var stall: Duration
    var window: Duration

    /// At least one task waits for a tenth of the time.
    static let warning = PressureTrigger(
        level: .warning, kind: .some, stall: .milliseconds(200), window: .seconds(2))
    /// All tasks wait for a tenth of the time.
    static let critical = PressureTrigger(
        level: .critical, kind: .full, stall: .milliseconds(200), window: .seconds(2))

    /// The same share of a longer window, which the kernel accepts without privilege: a multiple of two seconds. `nil` if
    /// the window is one already.
    var unprivileged: PressureTrigger? {
        let step = Duration.seconds(2).microseconds
        let (short, long) = (window.microseconds, (window.microseconds + step - 1) / step * step)
        guard short != long else { return nil }
        var trigger = self
        trigger.window = .microseconds(long)
        trigger.stall = .microseconds(stall.microseconds * long / short)
        return trigger
    }

    /// The line for the kernel, with a NUL at its end. Without the NUL the kernel drops the last digit.
    var line: [UInt8] {
        Array("\(kind.rawValue) \(stall.microseconds) \(window.microseconds)\0".utf8)
    }
}

extension PressureTrigger {
    /// Reads a line that another program has written, with or without a line end. `nil` if the kernel would not
    /// accept it.
    init?(line: [UInt8], level: PressureLevel) {
        let written = line.last == 0 ? line.dropLast() : line[...]
        let text = written.last == 0x0A ? written.dropLast() : written
        let words = String(decoding: text, as: UTF8.self).split(separator: " ")
        guard text.count < Self.maximumLength, words.count == 3,
            let kind = Kind(rawValue: String(words[0])),
            let stall = Int64(words[1]), let window = Int64(words[2]),
            stall > 0, stall <= window, Self.windows.contains(window)
        else { return nil }
        self.init(
            level: level, kind: kind, stall: .microseconds(stall), window: .microseconds(window))
    }

    /// The most bytes of a line that the kernel reads, including its end.
    private static let maximumLength = 32
    /// The windows that the kernel accepts, in microseconds.
    private static let windows: ClosedRange<Int64> = 500_000...10_000_000
}

extension Duration {
    /// Whole microseconds, rounded down.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
