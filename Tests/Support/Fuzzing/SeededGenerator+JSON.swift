extension SeededGenerator {
    /// Changes one value somewhere in a tree, or a member's name.
    ///
    /// - Parameter keepsJSON: the result is still JSON, even if a decoder rejects it.
    public mutating func damage(_ tree: inout JSONTree, keepsJSON: Bool) {
        switch tree {
        case .object(var members) where !members.isEmpty && !oneIn(5):
            damage(&members, keepsJSON)
            tree = .object(members)
        case .array(var elements) where !elements.isEmpty && !oneIn(4):
            let place = Int.random(in: elements.indices, using: &self)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: elements.append(junk(keepsJSON))
            case 1: elements += Array(repeating: elements[place], count: 50)
            default: damage(&elements[place], keepsJSON: keepsJSON)
            }
            tree = .array(elements)
        case .string(var text) where !keepsJSON && !oneIn(3):
            damage(&text)
            tree = .string(text)
        default:
            tree = junk(keepsJSON)
        }
    }

    private mutating func damage(
        _ members: inout [(name: String, value: JSONTree)], _ keepsJSON: Bool
    ) {
        let place = Int.random(in: members.indices, using: &self)
        switch Int.random(in: 0..<8, using: &self) {
        case 0: members.remove(at: place)
        case 1: members.append(members[place])
        case 2: members[place].name = one(of: ["", "urls", "parameters", "more", "x\\u0000"])
        case 3: members.append((one(of: ["x", "oneway", "upgrade", "method"]), junk(keepsJSON)))
        default: damage(&members[place].value, keepsJSON: keepsJSON)
        }
    }

    /// A value that is valid for no parameter.
    private mutating func junk(_ isJSON: Bool) -> JSONTree {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: .raw(one(of: isJSON ? Self.numbers : Self.numbers + Self.noNumbers))
        case 1: .raw(one(of: isJSON ? Self.literals : Self.literals + Self.noLiterals))
        case 2: JSONTree.raw(one(of: isJSON ? Self.strings : Self.strings + Self.noStrings))
        case 3: .raw(nested(isJSON))
        case 4: .string(isJSON ? Array("\(next())".utf8) : bytes(oneIn(2) ? 4 : 300))
        default: .string(Array(repeating: 0x61, count: oneIn(9) ? 70_000 : 700))
        }
    }

    /// Nested arrays or objects, sometimes deeper than any decoder accepts.
    private mutating func nested(_ isJSON: Bool) -> String {
        let depth = one(of: isJSON ? [2, 30, 50] : [2, 30, 65, 511, 512, 513, 5000, 100_000])
        let (open, close) = oneIn(2) ? ("[", "]") : ("{\"a\":", "}")
        let inner = isJSON || oneIn(2) ? "1" : ""
        let end = !isJSON && oneIn(3) ? "" : String(repeating: close, count: depth)
        return String(repeating: open, count: depth) + inner + end
    }

    private static let numbers = [
        "0", "-0", "-1", "1e-999", "0.1", "1e18", "1e19", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551616", "0." + String(repeating: "1", count: 5000),
        String(repeating: "9", count: 300),
    ]

    private static let noNumbers = [
        "1e999", "-1e999", "01", "+1", ".5", "5.", "0x10", "Infinity", "NaN", "1e", "-",
        String(repeating: "9", count: 5000),
    ]

    private static let literals = ["null", "true", "false", "{}", "[]", " [ ] ", "\n{\t}"]

    private static let noLiterals = ["nul", "", " ", "//", "True", "[", "}", ",", ":", "{]"]

    private static let strings = [
        "\"\"", "\"\\u0000\"", "\"\\ud83d\\ude00\"", "\"\\/\\\\\\\"\"", "\"日本\"", "\"\u{7F}\"",
    ].map { Array($0.utf8) }

    private static let noStrings: [[UInt8]] =
        [
            "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\u12\"", "\"\\x\"", "\"", "\"\\\"", "'a'",
            "\"\t\"",
        ].map { Array($0.utf8) } + [
            [0x22, 0xC3, 0x28, 0x22], [0x22, 0xFF, 0xFE, 0x22], [0x22, 0xC0, 0x80, 0x22],
            [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
            [0xEF, 0xBB, 0xBF],
        ]
}
