/// Finds keys in what a terminal sends: letters, and the sequences of xterm, the Linux console and
/// what imitates them. Pure; a sequence may come in pieces.
struct KeyDecoder {
    private var pending: [UInt8] = []
    /// When an escape that has come was the key of that name, should nothing follow; `nil` where none is
    /// the last that came.
    private(set) var deadline: Duration?

    /// An escape without company for so long was the key.
    private static let escapeTimeout = Duration.milliseconds(50)

    private static let escape: UInt8 = 0x1B
    /// Behind `ESC [` or `ESC O`.
    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "5~": .pageUp, "6~": .pageDown,
        "H": .home, "1~": .home, "7~": .home, "F": .end, "4~": .end, "8~": .end,
    ]

    /// The keys that are whole with these bytes.
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

    /// Nothing came until `now`.
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
            // Escape, and some other key soon after.
            let byte = pending[1]
            pending = byte == Self.escape ? [byte] : []
            return [.escape] + (byte == Self.escape ? [] : Self.key(byte))
        }
        // A final byte ends the sequence (ECMA-48 §5.4).
        guard let last = pending.last, last >= 0x40 else { return [] }
        defer { pending = [] }
        let text = String(decoding: pending.dropFirst(2), as: UTF8.self)
        return Self.sequences[text].map { [$0] } ?? []
    }

    private static func key(_ byte: UInt8) -> [Key] {
        switch byte {
        case 0x09: [.tab]
        case 0x0A, 0x0D: [.enter]
        case 0x20...0x7E: [.character(Character(Unicode.Scalar(byte)))]
        default: []
        }
    }
}
