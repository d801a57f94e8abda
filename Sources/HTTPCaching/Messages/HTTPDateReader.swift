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

    /// Reads a number, and says how many digits it has. `nil` if no digit comes next, or more than four do.
    mutating func number() -> (value: Int64, digits: Int)? {
        let word = rest.prefix { 0x30...0x39 ~= $0 }
        guard 1...4 ~= word.count else { return nil }
        rest = rest.dropFirst(word.count)
        return (word.reduce(0) { $0 * 10 + Int64($1 - 0x30) }, word.count)
    }

    /// Reads the minutes and seconds after the hour and its colon, as seconds. A leap second is second 60 of its minute.
    /// A fraction is skipped.
    mutating func restOfTime() -> Int64? {
        guard let minute = number(), takes(":"), let second = number(), minute.digits == 2,
            second.digits == 2, minute.value < 60, second.value <= 60
        else { return nil }
        if takes(".") { rest = rest.drop { 0x30...0x39 ~= $0 } }
        return minute.value * 60 + second.value
    }

    /// Reads a time zone in digits, such as `+0100` or `-05:00`, as seconds.
    mutating func offset() -> Int64? {
        var reader = self
        let isAhead = reader.takes("+")
        guard isAhead || reader.takes("-"), let first = reader.number() else { return nil }
        var (hours, minutes) = first.value.quotientAndRemainder(dividingBy: 100)
        if first.digits == 2 {
            guard reader.takes(":"), let second = reader.number(), second.digits == 2 else {
                return nil
            }
            (hours, minutes) = (first.value, second.value)
        } else if first.digits != 4 {
            return nil
        }
        guard hours < 24, minutes < 60 else { return nil }
        self = reader
        return (isAhead ? 1 : -1) * (hours * 3600 + minutes * 60)
    }

    /// Skips white space, a separator, the name of a day or one of GMT. Returns whether it did.
    mutating func skipsOther() -> Bool {
        one(of: Self.others) != nil
    }

    /// Longer words before their beginnings.
    private static let others: [StaticString] = [
        " ", ",", "-", "gmt", "utc",
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
        "mon", "tue", "wed", "thu", "fri", "sat", "sun", "t", "z",
    ]
}
