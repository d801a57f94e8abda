import CacheWire

/// A decoder without input that records the names and types of the fields that a type decodes.
final class FieldRecorder: Decoder {
    private(set) var fields: [InterfaceText.Field] = []
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// The fields that the `init(from:)` of a struct decodes.
    static func fields(of type: (some Decodable).Type) throws -> [InterfaceText.Field] {
        let recorder = FieldRecorder()
        _ = try type.init(from: recorder)
        return recorder.fields
    }

    func container<Key: CodingKey>(keyedBy: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>(recorder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NotRecorded() }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw NotRecorded() }

    fileprivate func record<T>(_ key: any CodingKey, _ type: T.Type, isOptional: Bool) {
        let name = Self.name(of: type)
        fields.append(.init(name: key.stringValue, type: name, isOptional: isOptional))
    }

    /// The name of the type in an interface description.
    private static func name(of type: Any.Type) -> String {
        if let choice = type as? any CaseIterable.Type { return self.name(ofChoice: choice) }
        return switch type {
        case is String.Type: "string"
        case is Int.Type: "int"
        case is Bool.Type: "bool"
        case is Double.Type: "float"
        case is [String].Type: "[]string"
        case is [Item].Type: "[]Item"
        case is [String: JSONValue].Type: "[string]object"
        default: "\(type)"
        }
    }

    private static func name(ofChoice type: (some CaseIterable).Type) -> String {
        "(" + type.allCases.map { "\($0)" }.joined(separator: ",") + ")"
    }
}

/// Thrown by operations that the recorder does not support.
private struct NotRecorded: Error {}

private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: FieldRecorder
    let codingPath: [any CodingKey] = []
    let allKeys: [Key] = []

    func contains(_: Key) -> Bool { true }
    func decodeNil(forKey: Key) -> Bool { true }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        recorder.record(key, type, isOptional: false)
        return try placeholder(type)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        recorder.record(key, type, isOptional: true)
        return nil
    }

    private func placeholder<T>(_ type: T.Type) throws -> T {
        let first = (type as? any CaseIterable.Type).flatMap { firstCase($0) }
        let all: [Any?] = [
            "", 0, false, 0.0, [String](), [Item](), [String: JSONValue](), first,
        ]
        for case let value as T in all.compactMap(\.self) { return value }
        throw NotRecorded()
    }

    private func firstCase(_ type: (some CaseIterable).Type) -> Any? { type.allCases.first }

    func nestedContainer<Nested: CodingKey>(
        keyedBy: Nested.Type, forKey: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw NotRecorded() }
    func nestedUnkeyedContainer(forKey: Key) throws -> any UnkeyedDecodingContainer {
        throw NotRecorded()
    }
    func superDecoder() throws -> any Decoder { throw NotRecorded() }
    func superDecoder(forKey: Key) throws -> any Decoder { throw NotRecorded() }

    // Synthesized code decodes these types with separate methods.
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try record(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try record(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try record(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try record(key) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { absent(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { absent(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { absent(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { absent(key) }

    private func record<T>(_ key: Key) throws -> T {
        recorder.record(key, T.self, isOptional: false)
        return try placeholder(T.self)
    }

    private func absent<T>(_ key: Key) -> T? {
        recorder.record(key, T.self, isOptional: true)
        return nil
    }
}
