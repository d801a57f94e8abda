/// Generates calls of every method that an interface describes: correct ones, and ones that are wrong in
/// every way.
public struct CallFuzzer: Sendable {
    /// A method of the interface, such as `Pin`, with the names and types of its parameters.
    private struct Shape: Sendable {
        let name: String
        let parameters: [(name: String, type: String)]
    }

    private let interface: String
    private let shapes: [Shape]
    /// The bodies of the types by name.
    private let types: [String: String]
    private let urls: [String]

    /// - Parameters:
    ///   - description: the text of an interface (varlink.org, "Interface Definition").
    ///   - urls: the URLs a well-behaved caller would use.
    public init(_ description: String, urls: [String]) {
        // Without comments, on one line.
        let text = description.split(separator: "\n").filter { line in
            line.drop { $0 == " " }.first != "#"
        }.joined(separator: " ")
        interface = text.split(separator: " ").dropFirst().first.map { String($0) } ?? ""
        types = Dictionary(
            Self.declarations("type ", in: text).map { ($0.name, $0.body) },
            uniquingKeysWith: { first, _ in first })
        shapes = Self.declarations("method ", in: text).map {
            Shape(name: $0.name, parameters: Self.fields($0.body))
        }
        self.urls = urls
    }

    /// The names of the methods found.
    public var methods: [String] { shapes.map(\.name) }

    /// Generates a call that is valid JSON with any parameters, without a NUL at the end.
    public func oddCall(using random: inout SeededGenerator) -> [UInt8] {
        var (method, parameters, flags) = parts(using: &random)
        for _ in 0..<random.one(of: [0, 1, 1, 2, 3]) {
            random.damage(&parameters, keepsJSON: true)
        }
        if random.oneIn(20) { method += random.one(of: ["", "s", ".x", "\\u0000", "日"]) }
        return call(method, parameters, flags, using: &random).bytes
    }

    /// Generates bytes that need not be a call any more.
    public func brokenCall(using random: inout SeededGenerator) -> [UInt8] {
        if random.oneIn(10) { return random.bytes(Int.random(in: 0...2000, using: &random)) }
        let (method, parameters, flags) = parts(using: &random)
        var tree = call(method, parameters, flags, using: &random)
        for _ in 0...2 { random.damage(&tree, keepsJSON: false) }
        var bytes = tree.bytes
        if random.oneIn(2) { random.damage(&bytes) }
        return bytes
    }

    private func call(
        _ method: String, _ parameters: JSONTree, _ flags: [String],
        using random: inout SeededGenerator
    ) -> JSONTree {
        let members =
            [("method", .text(method)), ("parameters", parameters)]
            + flags.map { ($0, JSONTree.raw(random.one(of: ["true", "false", "null"]))) }
        return .object(members.shuffled(using: &random))
    }

    /// The parts of a call: a method's full name, correct parameters, and flags.
    private func parts(
        using random: inout SeededGenerator
    ) -> (method: String, parameters: JSONTree, flags: [String]) {
        let shape = random.one(of: shapes)
        var parameters: [(name: String, value: JSONTree)] = []
        for (name, type) in shape.parameters where !type.hasPrefix("?") || random.oneIn(2) {
            parameters.append((name, value(name, type, &random)))
        }
        let flags = ["more", "oneway", "upgrade"].filter { _ in random.oneIn(6) }
        return ("\(interface).\(shape.name)", .object(parameters), flags)
    }

    private func value(
        _ name: String, _ type: String, _ random: inout SeededGenerator
    ) -> JSONTree {
        let plain = String(type.drop { $0 == "?" })
        if plain.hasPrefix("[]") {
            let element = String(plain.dropFirst(2))
            return .array(
                (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    element == "string"
                        ? .text(random.one(of: urls)) : value(name, element, &random)
                })
        }
        switch plain {
        case "bool": return .raw(random.one(of: ["true", "false"]))
        case "int": return .raw("\(random.one(of: [0, 1, 10, 100_000, 1 << 40]))")
        case "string":
            let digest = String(repeating: "0a", count: 32)
            return .text(random.one(of: urls + [digest, "http://", "io.cached.Cache", ""]))
        default:
            let body = types[plain] ?? String(plain.dropFirst().dropLast())
            return composed(Self.fields(body), &random)
        }
    }

    /// A struct, or one of the values of an enumeration.
    private func composed(
        _ fields: [(name: String, type: String)], _ random: inout SeededGenerator
    ) -> JSONTree {
        guard fields.contains(where: { !$0.type.isEmpty }) else {
            return .text(random.one(of: fields.map(\.name)))
        }
        return .object(
            fields.filter { !$0.type.hasPrefix("?") || random.oneIn(2) }.map {
                ($0.name, value($0.name, $0.type, &random))
            })
    }

    /// The name after each keyword, and the text in the parentheses after it.
    private static func declarations(
        _ keyword: String, in text: String
    ) -> [(name: String, body: String)] {
        text.ranges(of: keyword).compactMap { range in
            let rest = text[range.upperBound...]
            let name = rest.prefix { $0.isLetter }
            var (depth, body) = (0, "")
            for character in rest.dropFirst(name.count) {
                if character == ")" { depth -= 1 }
                if depth > 0 { body.append(character) } else if character == ")" { break }
                if character == "(" { depth += 1 }
            }
            return name.isEmpty ? nil : (String(name), body)
        }
    }

    /// Splits at the commas that are not inside parentheses. The values of an enumeration have no type.
    private static func fields(_ text: String) -> [(name: String, type: String)] {
        var fields = [""]
        var depth = 0
        for character in text where character != " " {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == ",", depth == 0 {
                fields.append("")
            } else {
                fields[fields.count - 1].append(character)
            }
        }
        return fields.filter { !$0.isEmpty }.map { field in
            guard let colon = field.firstIndex(of: ":") else { return (field, "") }
            return (String(field[..<colon]), String(field[field.index(after: colon)...]))
        }
    }
}
