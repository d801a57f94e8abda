/// A fast parser for a subset of JSON (RFC 8259). Any value that it returns is the value that a
/// decoder would return. For anything outside the subset it returns `nil` or `false`, and the
/// caller uses a decoder.
package struct JSONScanner {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    package init(bytes: UnsafeRawBufferPointer) {
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

    /// Scans an object. Calls `member` after each colon with the range of the name; `member` scans
    /// the value.
    package mutating func members(_ member: (Range<Int>, inout JSONScanner) -> Bool) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        repeat {
            guard let name = string(), take(UInt8(ascii: ":")), member(name, &self) else {
                return false
            }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    /// Scans an array of strings.
    package mutating func strings() -> [Range<Int>]? {
        var strings: [Range<Int>] = []
        let isArray = elements { scanner in
            guard let string = scanner.string() else { return false }
            strings.append(string)
            return true
        }
        return isArray ? strings : nil
    }

    /// Scans a string of printable ASCII without escapes. Returns the range between the quotes.
    package mutating func string() -> Range<Int>? {
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

    /// Scans an array. `element` scans one of its values.
    package mutating func elements(_ element: (inout JSONScanner) -> Bool) -> Bool {
        guard take(UInt8(ascii: "[")) else { return false }
        if take(UInt8(ascii: "]")) { return true }
        repeat {
            guard element(&self) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]"))
    }

    /// Scans a string of printable ASCII without escapes.
    package mutating func text() -> String? {
        string().map { text(at: $0) }
    }

    package func text(at range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Scans a non-negative integer of up to 15 digits.
    package mutating func integer() -> Int? {
        guard let (number, fraction) = number(), fraction == 0 else { return nil }
        return number
    }

    /// Scans a non-negative number of up to 15 digits. A `Double` can hold so many digits exactly,
    /// so that the division rounds in the same way as a decoder.
    package mutating func decimal() -> Double? {
        guard let (number, fraction) = number() else { return nil }
        return Double(number) / (0..<fraction).reduce(1) { power, _ in power * 10 }
    }

    /// Returns the digits of a number, and how many of them follow the decimal point.
    private mutating func number() -> (digits: Int, fraction: Int)? {
        skipSpace()
        let start = position
        guard let whole = digits() else { return nil }
        let hasLeadingZero = bytes[start] == UInt8(ascii: "0") && position > start + 1
        guard !hasLeadingZero else { return nil }
        var (number, fraction) = (whole, 0)
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            let point = position
            guard let more = digits(after: whole) else { return nil }
            (number, fraction) = (more, position - point)
        }
        let isLong = position - start > 16 || fraction == 0 && position - start > 15
        let hasExponent = position < bytes.count && bytes[position] | 0x20 == UInt8(ascii: "e")
        return isLong || hasExponent ? nil : (number, fraction)
    }

    /// Scans at least one digit. If there are too many digits the result overflows, and the caller
    /// must reject it.
    private mutating func digits(after whole: Int = 0) -> Int? {
        let start = position
        var number = whole
        while position < bytes.count, 0x30...0x39 ~= bytes[position] {
            number = number &* 10 &+ Int(bytes[position] - 0x30)
            position += 1
        }
        return position > start ? number : nil
    }

    /// Scans `true` or `false`.
    mutating func boolean() -> Bool? {
        if takes("true") { return true }
        return takes("false") ? false : nil
    }

    private mutating func takes(_ word: StaticString) -> Bool {
        skipSpace()
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, matches(position..<end, word) else { return false }
        position = end
        return true
    }

    package func matches(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        for index in 0..<range.count
        where bytes[range.lowerBound + index] != text.utf8Start[index] {
            return false
        }
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

/// Sets a field that is `nil`. Returns `false` if the field is set already or there is no value.
func setOnce<Value>(_ field: inout Value?, _ value: Value?) -> Bool {
    guard field == nil, let value else { return false }
    field = value
    return true
}
