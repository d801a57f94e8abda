/// Parses an interface description as far as the tests need it: the names and types of the fields
/// of every type, method and error (varlink.org, "Interface Definition").
struct InterfaceText {
    /// A field and its type. `isOptional` is set if the type follows `?`.
    struct Field: Equatable {
        let name: String
        let type: String
        let isOptional: Bool
    }

    /// The fields by type name, for example `Item`. Those of methods are named `Status.Parameters`
    /// and `Status.Reply`.
    private(set) var structs: [String: [Field]] = [:]
    private(set) var methods: [String] = []
    private(set) var errors: [String] = []
    private(set) var name = ""

    init(_ text: String) {
        let body = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .joined(separator: "\n")
        var words = Words(body)
        while let keyword = words.word() {
            let name = words.word() ?? ""
            switch keyword {
            case "interface": self.name = name
            case "type": structs[name] = words.fields()
            case "error":
                errors.append(name)
                structs[name] = words.fields()
            default:
                methods.append(name)
                structs["\(name).Parameters"] = words.fields()
                _ = words.word()
                structs["\(name).Reply"] = words.fields()
            }
        }
    }
}

/// Reads the text from its start.
private struct Words {
    private var rest: Substring

    init(_ text: String) {
        rest = text[...]
    }

    /// The text up to the next space or opening parenthesis.
    mutating func word() -> String? {
        rest = rest.drop(while: \.isWhitespace)
        let word = rest.prefix { !$0.isWhitespace && $0 != "(" }
        rest = rest.dropFirst(word.count)
        return word.isEmpty ? nil : String(word)
    }

    /// A list of fields in parentheses.
    mutating func fields() -> [InterfaceText.Field] {
        split(parenthesised()).map { field in
            let parts = field.split(separator: ":", maxSplits: 1)
            let type = parts[1].filter { !$0.isWhitespace }
            return InterfaceText.Field(
                name: String(parts[0]), type: type.hasPrefix("?") ? String(type.dropFirst()) : type,
                isOptional: type.hasPrefix("?"))
        }
    }

    private mutating func parenthesised() -> Substring {
        rest = rest.drop { $0 != "(" }
        var depth = 0
        let inside = rest.prefix { character in
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            return depth > 0
        }
        rest = rest.dropFirst(inside.count + 1)
        return inside.dropFirst()
    }

    /// Splits the list at commas that are not inside an enum.
    private func split(_ list: Substring) -> [String] {
        var depth = 0
        let parts = list.split { character in
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            return character == "," && depth == 0
        }
        return parts.map { String($0.drop(while: \.isWhitespace)) }.filter { !$0.isEmpty }
    }
}
