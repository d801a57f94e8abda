/// Base64 with the alphabet for URLs (RFC 4648 §5).
enum Base64URL {
    /// The bytes of a text, which is padded; `nil` if it is not the only text for them.
    static func decoded(_ text: Substring) -> [UInt8]? {
        guard text.utf8.count.isMultiple(of: 4) else { return nil }
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 4 * 3)
        var (bits, count) = (0, 0)
        for character in text.utf8.dropLast(padding) {
            guard let value = value(of: character) else { return nil }
            (bits, count) = (bits << 6 | value, count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(bits >> count))
            bits &= (1 << count) - 1
        }
        return bits == 0 && count == 2 * padding ? bytes : nil
    }

    private static func value(of character: UInt8) -> Int? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character) + 4
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
