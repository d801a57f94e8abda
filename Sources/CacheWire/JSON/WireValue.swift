/// A value in a message.
public protocol WireValue: Decodable, Sendable, Hashable, JSONWritable {}

/// A value that can be written as JSON.
public protocol JSONWritable {
    /// Writes the value. The members of an object have the order of the interface description.
    func write(to json: inout JSONText)
}

/// One of a few words.
public protocol WireChoice: RawRepresentable<String>, CaseIterable, WireValue {}

extension WireChoice {
    public func write(to json: inout JSONText) {
        json.string(rawValue)
    }

    /// Throws an error that names the allowed words for any other word.
    public init(from decoder: any Decoder) throws {
        let word = try decoder.singleValueContainer().decode(String.self)
        guard let choice = Self(rawValue: word) else {
            let allowed = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "\"\(word)\" is not one of \(allowed)"))
        }
        self = choice
    }
}

extension String: JSONWritable {
    public func write(to json: inout JSONText) { json.string(self) }
}

extension Int: JSONWritable {
    public func write(to json: inout JSONText) { json.raw("\(self)") }
}

extension Bool: JSONWritable {
    public func write(to json: inout JSONText) { json.raw(self ? "true" : "false") }
}

extension Double: JSONWritable {
    public func write(to json: inout JSONText) { json.raw(isFinite ? "\(self)" : "null") }
}

extension Array: JSONWritable where Element: JSONWritable {
    public func write(to json: inout JSONText) { json.array(self) }
}

/// Written in the order of the names.
extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
    public func write(to json: inout JSONText) {
        json.object { json in
            for (name, value) in sorted(by: { $0.key < $1.key }) { json.member(name, value) }
        }
    }
}
