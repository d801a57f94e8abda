import FoundationEssentials

/// A message on the socket: a JSON object and a NUL byte (varlink.org, "Protocol").
public enum Message {
    /// The longest message that is accepted or sent, in bytes, including its NUL.
    public static let maximumLength = 16 << 20

    /// The last byte of every message. JSON never contains it.
    static let terminator: UInt8 = 0

    /// Encodes a value as JSON on one line, without the terminator. Slashes are not escaped.
    public static func json(_ value: some Encodable) throws(EncodingError) -> [UInt8] {
        [UInt8](try data(value))
    }

    /// Encodes a value as a complete message, including its terminator.
    public static func encode(_ value: some Encodable) throws(EncodingError) -> [UInt8] {
        let data = try data(value)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + 1)
        bytes.append(contentsOf: data)
        bytes.append(terminator)
        return bytes
    }

    /// Decodes a message.
    ///
    /// - Parameter bytes: the message without its terminator.
    /// - Throws: `DecodingError` if it is not the JSON of such a value, or is nested too deep.
    public static func decode<Value: Decodable>(
        _: Value.Type = Value.self, from bytes: some Sequence<UInt8>
    ) throws(DecodingError) -> Value {
        let data = Data(bytes)
        guard !data.withUnsafeBytes({ JSONNesting.isTooDeep($0) }) else {
            let reason = "nested deeper than \(JSONNesting.limit) levels"
            throw .dataCorrupted(.init(codingPath: [], debugDescription: reason))
        }
        do {
            return try JSONDecoder().decode(Value.self, from: data)
        } catch let error as DecodingError {
            throw error
        } catch {
            let context = DecodingError.Context(codingPath: [], debugDescription: "\(error)")
            throw DecodingError.dataCorrupted(context)
        }
    }

    private static func data(_ value: some Encodable) throws(EncodingError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        do {
            return try encoder.encode(value)
        } catch let error as EncodingError {
            throw error
        } catch {
            let context = EncodingError.Context(codingPath: [], debugDescription: "\(error)")
            throw EncodingError.invalidValue(value, context)
        }
    }
}
