/// The header fields of a message, in order and with repetitions. Names compare case-insensitively
/// (RFC 9110 §5).
public struct HeaderFields: Sendable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
    public private(set) var fields: [(name: String, value: String)]

    public init(_ fields: [(name: String, value: String)] = []) {
        self.fields = fields
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The names in the order received, in lower case.
    public var names: [String] { fields.map { $0.name.lowercased() } }

    /// The value of the first field with this name.
    public subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The values of all fields with this name.
    public func all(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// These fields, followed by those of `others` whose names are not among these.
    public func withDefaults(_ others: HeaderFields) -> HeaderFields {
        HeaderFields(fields + others.fields.filter { self[$0.name] == nil })
    }

    /// The wire format: one field per line.
    public var description: String {
        fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    }
}
