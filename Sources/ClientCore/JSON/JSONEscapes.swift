/// The escapes in strings (RFC 8259 §7).
enum JSONEscapes {
    /// Appends a string without its escapes. Returns `false` if one of them is wrong.
    static func remove(
        from bytes: UnsafeRawBufferPointer, in range: Range<Int>, into texts: inout [UInt8]
    ) -> Bool {
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\\") {
                guard unescape(bytes, at: &index, into: &texts) else { return false }
            } else {
                texts.append(byte)
            }
        }
        return true
    }

    private static func unescape(
        _ bytes: UnsafeRawBufferPointer, at index: inout Int, into texts: inout [UInt8]
    ) -> Bool {
        guard index < bytes.count else { return false }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "n"): texts.append(0x0A)
        case UInt8(ascii: "t"): texts.append(0x09)
        case UInt8(ascii: "r"): texts.append(0x0D)
        case UInt8(ascii: "b"): texts.append(0x08)
        case UInt8(ascii: "f"): texts.append(0x0C)
        case UInt8(ascii: "u"): return unescapeUnicode(bytes, at: &index, into: &texts)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): texts.append(byte)
        default: return false
        }
        return true
    }

    /// Four hexadecimal digits, twice for a pair of surrogates. A NUL would end the text, so it is refused.
    private static func unescapeUnicode(
        _ bytes: UnsafeRawBufferPointer, at index: inout Int, into texts: inout [UInt8]
    ) -> Bool {
        guard var value = hexadecimal(bytes, at: index), value != 0 else { return false }
        index += 4
        if 0xD800..<0xDC00 ~= value {
            guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"),
                bytes[index + 1] == UInt8(ascii: "u"), let low = hexadecimal(bytes, at: index + 2),
                0xDC00..<0xE000 ~= low
            else { return false }
            index += 6
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard !(0xD800..<0xE000 ~= value) else { return false }
        append(value, to: &texts)
        return true
    }

    /// UTF-8 (RFC 3629 §3).
    private static func append(_ value: UInt32, to texts: inout [UInt8]) {
        func put(_ shift: UInt32, _ mark: UInt32) {
            texts.append(UInt8(truncatingIfNeeded: value >> shift & 0x3F | mark))
        }
        switch value {
        case ..<0x80: texts.append(UInt8(value))
        case ..<0x800:
            texts.append(UInt8(value >> 6 | 0xC0))
            put(0, 0x80)
        case ..<0x10000:
            texts.append(UInt8(value >> 12 | 0xE0))
            put(6, 0x80)
            put(0, 0x80)
        default:
            texts.append(UInt8(value >> 18 | 0xF0))
            put(12, 0x80)
            put(6, 0x80)
            put(0, 0x80)
        }
    }

    private static func hexadecimal(_ bytes: UnsafeRawBufferPointer, at start: Int) -> UInt32? {
        guard start + 4 <= bytes.count else { return nil }
        var number: UInt32 = 0
        for index in start..<(start + 4) {
            switch bytes[index] {
            case 0x30...0x39: number = number << 4 | UInt32(bytes[index] - 0x30)
            case 0x41...0x46: number = number << 4 | UInt32(bytes[index] - 0x37)
            case 0x61...0x66: number = number << 4 | UInt32(bytes[index] - 0x57)
            default: return nil
            }
        }
        return number
    }
}
