/// One member of a list like `Cache-Control`'s: a name, and an argument where it has one
/// (RFC 9111 §5.2).
struct Directive: Equatable {
    /// In lower case.
    let name: String
    /// Without quotes and escapes where it was a quoted string; `nil` where there was no `=`.
    let argument: String?

    /// The members of one field line. What is no directive is passed over; a comma in a quoted string
    /// separates nothing.
    static func list(_ line: some StringProtocol) -> [Directive] {
        var scanner = Scanner(rest: Substring(line))
        var directives: [Directive] = []
        while let directive = scanner.next() {
            if !directive.name.isEmpty { directives.append(directive) }
        }
        return directives
    }

    /// The argument as a number of seconds, `nil` where it is none: see `Int64(deltaSeconds:)`.
    var seconds: Int64? { argument.flatMap { Int64(deltaSeconds: $0) } }

    private struct Scanner {
        var rest: Substring

        mutating func next() -> Directive? {
            rest = rest.drop { $0 == "," || $0 == " " || $0 == "\t" }
            guard !rest.isEmpty else { return nil }
            let name = take { $0 != "=" && $0 != "," && $0 != " " && $0 != "\t" }.lowercased()
            guard rest.first == "=" else {
                // White space before `=` is no syntax: the argument is lost, and taken for unreadable.
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

        /// Leaves a comma in front, that of a quoted string not counted.
        @discardableResult
        private mutating func skipToComma() -> Substring {
            let start = rest
            while let next = rest.first, next != "," {
                if next == "\"" { _ = quotedString() } else { rest.removeFirst() }
            }
            return start[..<rest.startIndex]
        }

        /// RFC 9110 §5.6.4; one that is not closed ends with the line.
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
    /// `delta-seconds`: digits and nothing else. More than 2^31 counts as 2^31, about 68 years
    /// (RFC 9111 §1.2.2).
    init?(deltaSeconds text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        self = Swift.min(Int64(text) ?? .max, 1 << 31)
    }
}
