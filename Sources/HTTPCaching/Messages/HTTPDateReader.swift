/// Reads the parts of an HTTP date, from its first byte to its last.
struct HTTPDateReader {
    private var rest: UnsafeBufferPointer<UInt8>.SubSequence

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Skips `text`, given in lower case, if it comes next in any case. Returns whether it did.
    mutating func takes(_ text: StaticString) -> Bool {
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard rest.count >= expected.count,
            zip(rest, expected).allSatisfy({ $0.lowercasedASCII == $1 })
        else { return false }
        rest = rest.dropFirst(expected.count)
        return true
    }

    /// Skips one of `texts` and returns its index. `nil` if none of them comes next.
    mutating func one(of texts: [StaticString]) -> Int? {
        texts.firstIndex { takes($0) }
    }

    /// Reads a number of exactly `digits` digits.
    mutating func number(digits: Int) -> Int64? {
        let word = rest.prefix(digits)
        guard word.count == digits, word.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        rest = rest.dropFirst(digits)
        return word.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Reads a time such as `08:49:37` as seconds since midnight. A leap second is second 60 of its minute.
    mutating func timeOfDay() -> Int64? {
        guard let hour = number(digits: 2), takes(":"), let minute = number(digits: 2), takes(":"),
            let second = number(digits: 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }
}
