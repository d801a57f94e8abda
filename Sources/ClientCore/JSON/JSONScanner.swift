import CClient

/// Scans JSON (RFC 8259) value by value. Input is untrusted: for any bytes the scan ends and reports a result.
///
/// Clients read replies with it. The daemon reads frequent calls with it, and leaves other messages to a decoder.
/// Both return the same values.
package struct JSONScanner {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The number of bytes that were not scanned.
    package var remaining: Int { bytes.count - position }

    /// Whether only white space remains.
    package var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == bytes.count
        }
    }

    // MARK: Objects and arrays

    /// Scans an object. Calls `member` after each colon with the range of the name; `member` scans the value.
    package mutating func members(_ member: (Range<Int>, inout JSONScanner) -> Bool) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        if take(UInt8(ascii: "}")) { return true }
        repeat {
            guard let name = string(), take(UInt8(ascii: ":")), member(name, &self) else {
                return false
            }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    /// Scans an array. `element` scans one of its values.
    package mutating func elements(_ element: (inout JSONScanner) -> Bool) -> Bool {
        guard take(UInt8(ascii: "[")) else { return false }
        if take(UInt8(ascii: "]")) { return true }
        repeat {
            guard element(&self) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]"))
    }

    /// Skips any value. More than 64 levels of nesting are not scanned.
    package mutating func skip(depth: Int = 0) -> Bool {
        skipSpace()
        guard position < bytes.count, depth < 64 else { return false }
        switch bytes[position] {
        case UInt8(ascii: "\""): return string() != nil
        case UInt8(ascii: "{"): return members { _, scanner in scanner.skip(depth: depth + 1) }
        case UInt8(ascii: "["): return elements { scanner in scanner.skip(depth: depth + 1) }
        default: return skipWord()
        }
    }

    // MARK: Strings

    /// Scans a string. Returns the range between the quotes; escapes in it are not decoded.
    package mutating func string() -> Range<Int>? {
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

    /// Scans a string of printable ASCII without escapes. Returns the range between the quotes.
    package mutating func plainString() -> Range<Int>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                defer { position += 1 }
                return start..<position
            }
            guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { return nil }
            position += 1
        }
        return nil
    }

    /// Scans a string, and appends it to `texts` without escapes and with a NUL. Returns its start in `texts`.
    package mutating func text(into texts: inout [UInt8]) -> Int? {
        guard let range = string() else { return nil }
        let start = texts.count
        guard JSONEscapes.remove(from: bytes, in: range, into: &texts) else { return nil }
        texts.append(0)
        return start
    }

    package subscript(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    /// Whether the string at a range is this text. memcmp(3).
    package func matches(_ range: Range<Int>, _ text: StaticString) -> Bool {
        // Escapes make a text longer.
        if range.count > text.utf8CodeUnitCount { return matchesEscaped(range, text) }
        guard range.count == text.utf8CodeUnitCount, let start = bytes.baseAddress else {
            return false
        }
        return memcmp(start + range.lowerBound, text.utf8Start, range.count) == 0
    }

    private func matchesEscaped(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard bytes[range].contains(UInt8(ascii: "\\")) else { return false }
        var plain: [UInt8] = []
        guard JSONEscapes.remove(from: bytes, in: range, into: &plain),
            plain.count == text.utf8CodeUnitCount
        else { return false }
        for index in 0..<plain.count where plain[index] != text.utf8Start[index] { return false }
        return true
    }

    // MARK: Numbers and words

    /// Scans an integer of at most 18 digits. A fraction or an exponent is not one.
    package mutating func integer() -> Int64? {
        let isNegative = take(UInt8(ascii: "-"))
        guard let number = number(), number.fraction == 0 else { return nil }
        return isNegative ? -number.digits : number.digits
    }

    /// Scans a number without a sign: its digits, at most 18, and how many of them follow the decimal point.
    package mutating func number() -> (digits: Int64, fraction: Int)? {
        skipSpace()
        let start = position
        guard let whole = digits(after: 0) else { return nil }
        let hasLeadingZero = bytes[start] == UInt8(ascii: "0") && position > start + 1
        guard !hasLeadingZero else { return nil }
        var (number, fraction) = (whole, 0)
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            let point = position
            guard let more = digits(after: whole) else { return nil }
            (number, fraction) = (more, position - point)
        }
        let isLong = position - start > (fraction == 0 ? 18 : 19)
        let hasExponent = position < bytes.count && bytes[position] | 0x20 == UInt8(ascii: "e")
        return isLong || hasExponent ? nil : (number, fraction)
    }

    /// Scans at least one digit. If there are too many, the result overflows, and the caller must reject it.
    private mutating func digits(after whole: Int64) -> Int64? {
        let start = position
        var number = whole
        while position < bytes.count, 0x30...0x39 ~= bytes[position] {
            number = number &* 10 &+ Int64(bytes[position] - 0x30)
            position += 1
        }
        return position > start ? number : nil
    }

    /// Scans `true` or `false`.
    package mutating func boolean() -> Bool? {
        if takeWord("true") { return true }
        return takeWord("false") ? false : nil
    }

    /// Scans `null`. Returns whether it is there.
    package mutating func null() -> Bool { takeWord("null") }

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
}
