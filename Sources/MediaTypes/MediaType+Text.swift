/// Texts as values. The C library, which is Embedded Swift, has only the literals.
extension MediaType {
    /// ``literal`` as a value.
    public var name: String { "\(row.name)" }

    /// The endings of names of such files, without a dot, the usual one first; none for `other`.
    public var endings: [String] { "\(row.endings)".split(separator: " ").map(String.init) }

    /// The type with a name.
    ///
    /// - Parameter name: exactly what ``name`` returns. Any other spelling gives `nil`.
    public init?(name: String) {
        guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }
}
