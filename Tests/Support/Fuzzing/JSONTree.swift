/// JSON as written text, so that it can be wrong in every way: a member twice, a number that fits no
/// type, a string that is not UTF-8.
public indirect enum JSONTree: Sendable {
    case object([(name: String, value: JSONTree)])
    case array([JSONTree])
    /// The bytes between the quotes, verbatim.
    case string([UInt8])
    /// A number, a literal, or anything else, verbatim.
    case raw([UInt8])

    public static func text(_ text: String) -> JSONTree { .string(Array(text.utf8)) }
    public static func raw(_ text: String) -> JSONTree { .raw(Array(text.utf8)) }

    /// The JSON text, on one line.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .object(let members):
            Self.write(members, "{", "}", to: &bytes) { member, bytes in
                bytes += Array("\"\(member.name)\":".utf8)
                member.value.write(to: &bytes)
            }
        case .array(let elements):
            Self.write(elements, "[", "]", to: &bytes) { $0.write(to: &$1) }
        case .string(let text):
            bytes.append(UInt8(ascii: "\""))
            bytes += text
            bytes.append(UInt8(ascii: "\""))
        case .raw(let text):
            bytes += text
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ start: String, _ end: String, to bytes: inout [UInt8],
        _ write: (Element, inout [UInt8]) -> Void
    ) {
        bytes += start.utf8
        for (number, element) in elements.enumerated() {
            if number > 0 { bytes.append(UInt8(ascii: ",")) }
            write(element, &bytes)
        }
        bytes += end.utf8
    }
}
