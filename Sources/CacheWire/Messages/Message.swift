import FoundationEssentials

/// A message on the socket: a JSON object and a NUL byte (varlink.org, "Protocol").
public enum Message {
    /// The longest message that is accepted or sent, in bytes, including its NUL.
    public static let maximumLength = 16 << 20

    /// The last byte of every message. JSON never contains it.
    static let terminator: UInt8 = 0

    /// Returns a value as JSON on one line, without the terminator.
    public static func json(_ value: some JSONWritable) -> [UInt8] {
        var json = JSONText()
        value.write(to: &json)
        return json.bytes
    }

    /// Returns a value as a complete message, including its terminator.
    public static func encode(_ value: some JSONWritable) -> [UInt8] {
        json(value) + [terminator]
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
}
