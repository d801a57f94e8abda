/// One member of a list like that of `Cache-Control`: a name, and for some an argument (RFC 9111 §5.2).
struct Directive: Equatable {
    /// The name in lower case.
    let name: String
    /// The argument, without the quotes and escapes of a quoted string. `nil` if there is no `=`.
    let argument: String?

    /// The members of one field line. Text that is not a directive is skipped. A comma inside of a quoted
    /// string separates nothing.
    static func list(_ line: some StringProtocol) -> [Directive] {
        var scanner = Scanner(rest: Array(line.utf8)[...])
        var directives: [Directive] = []
        while let directive = scanner.next() {
            if !directive.name.isEmpty { directives.append(directive) }
        }
        return directives
    }

    /// The argument as a number of seconds, or `nil` if it is not one; see `Int64(deltaSeconds:)`.
    var seconds: Int64? { argument.flatMap { Int64(deltaSeconds: $0) } }

    /// Reads bytes: a server can send combining marks without end, and they are one `Character`.
    private struct Scanner {
        var rest: ArraySlice<UInt8>

        private static let equals = UInt8(ascii: "=")
        private static let quote = UInt8(ascii: "\"")
        private static let backslash = UInt8(ascii: "\\")

        mutating func next() -> Directive? {
            rest = rest.drop { $0.isComma || $0.isBlank }
            guard !rest.isEmpty else { return nil }
            let word = take { $0 != Self.equals && !$0.isComma && !$0.isBlank }
            let name = String(decoding: word.lazy.map(\.lowercasedASCII), as: UTF8.self)
            guard rest.first == Self.equals else {
                // White space before `=` is wrong syntax. The argument then counts as unreadable.
                let isBare = skipToComma().allSatisfy(\.isBlank)
                return Directive(name: name, argument: isBare ? nil : "")
            }
            rest.removeFirst()
            let argument =
                rest.first == Self.quote ? quotedString() : take { !$0.isComma && !$0.isBlank }
            skipToComma()
            return Directive(name: name, argument: String(decoding: argument, as: UTF8.self))
        }

        private mutating func take(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
            let taken = rest.prefix(while: condition)
            rest = rest[taken.endIndex...]
            return taken
        }

        /// Skips to the next comma that is not inside of a quoted string, and returns the skipped text.
        @discardableResult
        private mutating func skipToComma() -> ArraySlice<UInt8> {
            let start = rest
            while let next = rest.first, !next.isComma {
                if next == Self.quote { _ = quotedString() } else { rest.removeFirst() }
            }
            return start[..<rest.startIndex]
        }

        /// Reads a quoted string (RFC 9110 §5.6.4). Without a closing quote it ends with the line.
        private mutating func quotedString() -> ArraySlice<UInt8> {
            rest.removeFirst()
            var text: [UInt8] = []
            while let next = rest.popFirst(), next != Self.quote {
                guard next != Self.backslash else {
                    if let escaped = rest.popFirst() { text.append(escaped) }
                    continue
                }
                text.append(next)
            }
            return text[...]
        }
    }
}

extension UInt8 {
    fileprivate var isComma: Bool { self == UInt8(ascii: ",") }
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension Int64 {
    /// Parses `delta-seconds`, which is digits and nothing else. A number above 2^31, about 68 years, becomes
    /// 2^31 (RFC 9111 §1.2.2).
    init?(deltaSeconds text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        self = Swift.min(Int64(text) ?? .max, 1 << 31)
    }
}
