import CacheWire

/// The stall that makes a level: so much waiting for memory within a window.
///
/// The line the kernel takes is `some 200000 2000000`: the kind, then both times in microseconds.
/// Documentation/accounting/psi.rst.
struct PressureTrigger: Sendable, Hashable {
    /// Who waits.
    enum Kind: String, Sendable {
        /// At least one task.
        case some
        /// Every task that has anything to do.
        case full
    }

    var level: PressureLevel
    var kind: Kind
    /// The time spent waiting that is too much.
    var stall: Duration
    /// Within how long. Without privilege the kernel takes multiples of two seconds only.
    var window: Duration

    /// A tenth of the time some task waits.
    static let warning = PressureTrigger(
        level: .warning, kind: .some, stall: .milliseconds(200), window: .seconds(2))
    /// A tenth of the time nothing goes on.
    static let critical = PressureTrigger(
        level: .critical, kind: .full, stall: .milliseconds(200), window: .seconds(2))

    /// The line as the kernel wants it, ended by a NUL: without one it takes the last digit for the end.
    var line: [UInt8] {
        Array("\(kind.rawValue) \(stall.microseconds) \(window.microseconds)\0".utf8)
    }
}

extension PressureTrigger {
    /// Reads a line somebody else wrote, with or without its end; `nil` if the kernel would not take it.
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

    /// What the kernel reads of a line, in bytes, its end included.
    private static let maximumLength = 32
    /// The windows the kernel takes, in microseconds.
    private static let windows: ClosedRange<Int64> = 500_000...10_000_000
}

extension Duration {
    /// Whole microseconds, rounded down.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
