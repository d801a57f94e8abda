/// Reads JSON (RFC 8259) value by value. Nothing is believed: whatever the bytes are, it ends with an answer.
struct JSONReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == bytes.count
        }
    }

    /// Reads an object. `member` reads the value of each member; its name is at the range. A member that is null counts
    /// as absent.
    mutating func members(_ member: (inout JSONReader, Range<Int>) -> Bool) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        if take(UInt8(ascii: "}")) { return true }
        repeat {
            guard let name = string(), take(UInt8(ascii: ":")) else { return false }
            if takeWord("null") { continue }
            guard member(&self, name) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    /// Reads an array. `element` reads each value.
    mutating func elements(_ element: (inout JSONReader) -> Bool) -> Bool {
        guard take(UInt8(ascii: "[")) else { return false }
        if take(UInt8(ascii: "]")) { return true }
        repeat {
            guard element(&self) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]"))
    }

    func matches(_ range: Range<Int>, _ text: StaticString) -> Bool {
        // Escapes make a text longer.
        if range.count > text.utf8CodeUnitCount { return matchesEscaped(range, text) }
        guard range.count == text.utf8CodeUnitCount else { return false }
        for index in 0..<range.count
        where bytes[range.lowerBound + index] != text.utf8Start[index] {
            return false
        }
        return true
    }

    private func matchesEscaped(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard bytes[range].contains(UInt8(ascii: "\\")) else { return false }
        var plain: [UInt8] = []
        guard unescape(range, into: &plain), plain.count == text.utf8CodeUnitCount else {
            return false
        }
        for index in 0..<plain.count where plain[index] != text.utf8Start[index] { return false }
        return true
    }

    /// Reads a string, and appends it to `texts` without escapes and with a NUL. Returns where it begins there.
    mutating func text(into texts: inout [UInt8]) -> Int? {
        guard let range = string() else { return nil }
        let start = texts.count
        guard unescape(range, into: &texts) else { return nil }
        texts.append(0)
        return start
    }

    /// The bytes of a string between its quotes, with its escapes.
    mutating func string() -> Range<Int>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return start..<(position - 1)
            case UInt8(ascii: "\\"): position += 2
            case 0..<0x20: return nil
            default: position += 1
            }
        }
        position = bytes.count
        return nil
    }

    /// Reads an integer. A fraction or an exponent is not one.
    mutating func integer() -> Int64? {
        skipSpace()
        let isNegative = take(UInt8(ascii: "-"))
        guard let number = bytes.decimal(at: position) else { return nil }
        while position < bytes.count, 0x30...0x39 ~= bytes[position] { position += 1 }
        return isNegative ? -number : number
    }

    mutating func boolean() -> Bool? {
        if takeWord("true") { return true }
        return takeWord("false") ? false : nil
    }

    /// Skips any value. More than 64 levels of nesting are not read.
    mutating func skip(depth: Int = 0) -> Bool {
        skipSpace()
        guard position < bytes.count, depth < 64 else { return false }
        switch bytes[position] {
        case UInt8(ascii: "\""): return string() != nil
        case UInt8(ascii: "{"): return members { reader, _ in reader.skip(depth: depth + 1) }
        case UInt8(ascii: "["): return elements { reader in reader.skip(depth: depth + 1) }
        default: return skipWord()
        }
    }

    // MARK: Parts

    private mutating func skipWord() -> Bool {
        let start = position
        scan: while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                position += 1
            default: break scan
            }
        }
        return position > start
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        skipSpace()
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, matches(position..<end, word) else { return false }
        position = end
        return true
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func unescape(_ range: Range<Int>, into texts: inout [UInt8]) -> Bool {
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\\") {
                guard unescape(at: &index, into: &texts) else { return false }
            } else {
                texts.append(byte)
            }
        }
        return true
    }

    /// Appends what an escape stands for. The backslash is before `index`.
    private func unescape(at index: inout Int, into texts: inout [UInt8]) -> Bool {
        guard index < bytes.count else { return false }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "n"): texts.append(0x0A)
        case UInt8(ascii: "t"): texts.append(0x09)
        case UInt8(ascii: "r"): texts.append(0x0D)
        case UInt8(ascii: "b"): texts.append(0x08)
        case UInt8(ascii: "f"): texts.append(0x0C)
        case UInt8(ascii: "u"): return unescapeUnicode(at: &index, into: &texts)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): texts.append(byte)
        default: return false
        }
        return true
    }

    /// Four hexadecimal digits, twice for a pair of surrogates. A NUL would end the text, so it is refused.
    private func unescapeUnicode(at index: inout Int, into texts: inout [UInt8]) -> Bool {
        guard var value = hexadecimal(at: index), value != 0 else { return false }
        index += 4
        if 0xD800..<0xDC00 ~= value {
            guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"),
                bytes[index + 1] == UInt8(ascii: "u"), let low = hexadecimal(at: index + 2),
                0xDC00..<0xE000 ~= low
            else { return false }
            index += 6
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { return false }
        texts.append(contentsOf: Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter))
        return true
    }

    private func hexadecimal(at start: Int) -> UInt32? {
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
