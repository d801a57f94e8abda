/// One member of a list like that of `Cache-Control`: a name, and for some an argument (RFC 9111 §5.2).
struct Directive: Equatable {
    /// The name in lower case.
    let name: String
    /// The argument, without the quotes and escapes of a quoted string. `nil` if there is no `=`.
    let argument: String?

    /// The members of one field line. Text that is not a directive is skipped. A comma inside of a quoted
    /// string separates nothing.
    static func list(_ line: some StringProtocol) -> [Directive] {
        var scanner = Scanner(rest: Substring(line))
        var directives: [Directive] = []
        while let directive = scanner.next() {
            if !directive.name.isEmpty { directives.append(directive) }
        }
        return directives
    }

    /// The argument as a number of seconds, or `nil` if it is not one; see `Int64(deltaSeconds:)`.
    var seconds: Int64? { argument.flatMap { Int64(deltaSeconds: $0) } }

    private struct Scanner {
        var rest: Substring

        mutating func next() -> Directive? {
            rest = rest.drop { $0 == "," || $0 == " " || $0 == "\t" }
            guard !rest.isEmpty else { return nil }
            let name = take { $0 != "=" && $0 != "," && $0 != " " && $0 != "\t" }.lowercased()
            guard rest.first == "=" else {
                // White space before `=` is wrong syntax. The argument then counts as unreadable.
                let isBare = skipToComma().allSatisfy { $0 == " " || $0 == "\t" }
                return Directive(name: name, argument: isBare ? nil : "")
            }
            rest.removeFirst()
            let argument =
                rest.first == "\""
                ? quotedString() : String(take { $0 != "," && $0 != " " && $0 != "\t" })
            skipToComma()
            return Directive(name: name, argument: argument)
        }

        private mutating func take(while condition: (Character) -> Bool) -> Substring {
            let taken = rest.prefix(while: condition)
            rest = rest[taken.endIndex...]
            return taken
        }

        /// Skips to the next comma that is not inside of a quoted string, and returns the skipped text.
        @discardableResult
        private mutating func skipToComma() -> Substring {
            let start = rest
            while let next = rest.first, next != "," {
                if next == "\"" { _ = quotedString() } else { rest.removeFirst() }
            }
            return start[..<rest.startIndex]
        }

        /// Reads a quoted string (RFC 9110 §5.6.4). Without a closing quote it ends with the line.
        private mutating func quotedString() -> String {
            rest.removeFirst()
            var text = ""
            while let next = rest.popFirst(), next != "\"" {
                if next == "\\" {
                    if let escaped = rest.popFirst() { text.append(escaped) }
                } else {
                    text.append(next)
                }
            }
            return text
        }
    }
}

extension Int64 {
    /// Parses `delta-seconds`, which is digits and nothing else. A number above 2^31, about 68 years, becomes
    /// 2^31 (RFC 9111 §1.2.2).
    init?(deltaSeconds text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        self = Swift.min(Int64(text) ?? .max, 1 << 31)
    }
}
