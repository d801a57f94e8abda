/// The hot call, found in a message without decoding it:
///
///     {"method":"io.cached.Cache.Status","parameters":{"urls":["https://…","https://…"]}}
///
/// Members in any order, white space wherever JSON allows it. Anything else about the message, such as
/// an escape in a string, a byte beyond ASCII, or another member, is left to the JSON decoder, which
/// answers the same; so this scanner may be strict but never wrong.
struct StatusCall {
    /// Where the URLs stand in the message, in order.
    private(set) var urls: [Range<Int>] = []

    private static let method: StaticString = "io.cached.Cache.Status"

    /// `nil` unless the message is exactly such a call.
    init?(_ message: UnsafeRawBufferPointer) {
        var scanner = Scanner(bytes: message)
        var hasMethod = false
        var hasParameters = false
        let isObject = scanner.members { name, scanner in
            if scanner.matches(name, "method"), !hasMethod {
                hasMethod = true
                return scanner.string().map { scanner.matches($0, Self.method) } ?? false
            }
            guard scanner.matches(name, "parameters"), !hasParameters else { return false }
            hasParameters = true
            return parameters(&scanner)
        }
        guard isObject, hasMethod, hasParameters, scanner.isAtEnd else { return nil }
    }

    private mutating func parameters(_ scanner: inout Scanner) -> Bool {
        var found: [Range<Int>]?
        let isObject = scanner.members { name, scanner in
            guard scanner.matches(name, "urls"), found == nil else { return false }
            found = scanner.strings()
            return found != nil
        }
        guard isObject, let found else { return false }
        urls = found
        return true
    }
}

/// Just as much JSON as that call needs (RFC 8259).
private struct Scanner {
    let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Nothing but white space is left.
    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == bytes.count
        }
    }

    /// An object; `member` is called behind each colon with the place of the name, and takes the value.
    mutating func members(_ member: (Range<Int>, inout Scanner) -> Bool) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        repeat {
            guard let name = string(), take(UInt8(ascii: ":")), member(name, &self) else {
                return false
            }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    /// An array of strings.
    mutating func strings() -> [Range<Int>]? {
        guard take(UInt8(ascii: "[")) else { return nil }
        if take(UInt8(ascii: "]")) { return [] }
        var strings: [Range<Int>] = []
        repeat {
            guard let string = string() else { return nil }
            strings.append(string)
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]")) ? strings : nil
    }

    /// A string of printable ASCII without escapes; the place of what is between the quotes.
    mutating func string() -> Range<Int>? {
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

    func matches(_ range: Range<Int>, _ text: StaticString) -> Bool {
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
