package import ClientCore

/// Values as the daemon and `cachectl` use them. A string with escapes or beyond ASCII is left to a decoder.
extension JSONScanner {
    /// Scans a string of printable ASCII without escapes.
    package mutating func text() -> String? {
        plainString().map { text(at: $0) }
    }

    package func text(at range: Range<Int>) -> String {
        String(decoding: self[range], as: UTF8.self)
    }

    /// Scans an array of strings of printable ASCII without escapes.
    package mutating func plainStrings() -> [Range<Int>]? {
        var strings: [Range<Int>] = []
        let isArray = elements { scanner in
            guard let string = scanner.plainString() else { return false }
            strings.append(string)
            return true
        }
        return isArray ? strings : nil
    }

    mutating func count() -> Int? {
        integer().map { Int($0) }
    }

    /// Scans a number of at most 15 digits. A `Double` can hold so many digits exactly, so that the division rounds in
    /// the same way as a decoder.
    mutating func decimal() -> Double? {
        guard let (digits, fraction) = number(), digits < 1_000_000_000_000_000 else { return nil }
        return Double(digits) / (0..<fraction).reduce(1) { power, _ in power * 10 }
    }
}

/// Sets a field that is `nil`. Returns `false` if the field is set already or there is no value.
func setOnce<Value>(_ field: inout Value?, _ value: Value?) -> Bool {
    guard field == nil, let value else { return false }
    field = value
    return true
}
