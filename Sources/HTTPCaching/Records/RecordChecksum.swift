/// The checksum of a record, a CRC-32. The last field of a record of text, ` sum=xxxxxxxx`, is that of all bytes before
/// `sum=` in hex.
///
/// It detects bits that changed by accident. It does not protect against a forged record.
enum RecordChecksum {
    /// Appends the sum to the other fields of a record.
    static func seal(_ text: inout String) {
        text += " "
        let digits = String(crc32(text.utf8), radix: 16)
        text += "sum="
        text += String(repeating: "0", count: digitCount - digits.count)
        text += digits
    }

    /// Whether the text ends with the right sum.
    static func seals(_ text: UnsafeRawBufferPointer) -> Bool {
        hasSum(text) && agrees(text)
    }

    private static func hasSum(_ text: UnsafeRawBufferPointer) -> Bool {
        text.dropLast(digitCount).suffix(4).spells("sum=")
    }

    /// Whether the sum is right. A record without a sum counts as right, because the first version wrote none.
    /// If the name of the field is damaged, the fields before it are still as they were written.
    static func agrees(_ text: UnsafeRawBufferPointer) -> Bool {
        guard hasSum(text) else { return true }
        var found: UInt32 = 0
        for byte in text.suffix(digitCount) {
            guard let digit = hexDigit(byte) else { return false }
            found = found << 4 | digit
        }
        return found == crc32(text.dropLast(digitCount + 4))
    }

    private static let digitCount = 8

    /// The value of a digit in lower case. `nil` for any other byte.
    private static func hexDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
        default: nil
        }
    }

    /// The CRC-32 that gzip and PNG use. RFC 1952 §8
    static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            ~bytes.reduce(~UInt32(0)) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
        }
    }

    private static let table = (UInt32(0)..<256).map { byte in
        (0..<8).reduce(byte) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
    }
}
