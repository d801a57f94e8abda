/// Decodes the bytes of a terminal into keys. It knows letters and the sequences of xterm, the
/// Linux console and compatible terminals. Pure. A sequence can arrive in several pieces.
struct KeyDecoder {
    private var pending: [UInt8] = []
    /// When a pending escape byte becomes the Escape key, unless more bytes follow; `nil` if no
    /// escape byte is pending.
    private(set) var deadline: Duration?

    /// An escape byte that no other byte follows within this time is the Escape key.
    private static let escapeTimeout = Duration.milliseconds(50)

    private static let escape: UInt8 = 0x1B
    /// The bytes that follow `ESC [` or `ESC O`.
    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "5~": .pageUp, "6~": .pageDown,
        "H": .home, "1~": .home, "7~": .home, "F": .end, "4~": .end, "8~": .end,
    ]

    /// Returns the keys that these bytes complete.
    mutating func decode(_ bytes: some Collection<UInt8>, now: Duration) -> [Key] {
        guard !bytes.isEmpty else { return [] }
        var keys: [Key] = []
        for byte in bytes {
            if pending.isEmpty {
                if byte == Self.escape { pending = [byte] } else { keys += Self.key(byte) }
            } else {
                pending.append(byte)
                keys += takeSequence()
            }
        }
        deadline = pending.isEmpty ? nil : now + Self.escapeTimeout
        return keys
    }

    /// Returns the Escape key if nothing has followed an escape byte in time.
    mutating func waited(until now: Duration) -> [Key] {
        guard let deadline, now >= deadline else { return [] }
        defer {
            pending = []
            self.deadline = nil
        }
        return pending == [Self.escape] ? [.escape] : []
    }

    private mutating func takeSequence() -> [Key] {
        let isStart = pending.count == 2
        if isStart, [UInt8(ascii: "["), UInt8(ascii: "O")].contains(pending[1]) { return [] }
        if isStart {
            // The Escape key, soon followed by another key.
            let byte = pending[1]
            pending = byte == Self.escape ? [byte] : []
            return [.escape] + (byte == Self.escape ? [] : Self.key(byte))
        }
        // A final byte ends the sequence (ECMA-48 §5.4).
        guard let last = pending.last, last >= 0x40 else { return [] }
        defer { pending = [] }
        let text = String(decoding: pending.dropFirst(2), as: UTF8.self)
        if text.hasPrefix("<") { return Self.mouse(text.dropFirst()).map { [$0] } ?? [] }
        return Self.sequences[text].map { [$0] } ?? []
    }

    /// A report of the mouse: `BUTTON;COLUMN;LINE`, and `M` if the button was pressed (xterm, "SGR
    /// (1006)"). Modifier keys are bits of the button.
    private static func mouse(_ report: Substring) -> Key? {
        let numbers = report.dropLast().split(separator: ";").compactMap { Int($0) }
        guard report.last == "M", numbers.count == 3, numbers.dropFirst().allSatisfy({ $0 > 0 })
        else { return nil }
        return switch numbers[0] & ~0b1_1100 {
        case 0: .click(column: numbers[1] - 1, line: numbers[2] - 1)
        case 64: .wheelUp
        case 65: .wheelDown
        default: nil
        }
    }

    private static func key(_ byte: UInt8) -> [Key] {
        switch byte {
        case 0x09: [.tab]
        case 0x0A, 0x0D: [.enter]
        case 0x08, 0x7F: [.backspace]
        case 0x20...0x7E: [.character(Character(Unicode.Scalar(byte)))]
        default: []
        }
    }
}
