import CacheWire
import ClientCore
import NIOCore

/// A reply of the daemon. Its parameters stay the JSON that they are, because most of them only pass through.
struct DaemonReply {
    /// An object on one line.
    private(set) var parameters = ByteBuffer(staticString: "{}")
    /// Whether further replies to the same call follow.
    private(set) var continues = false
    /// Why the call failed.
    private(set) var error: WireError?

    /// `nil` unless the message is a reply.
    init?(_ message: UnsafeRawBufferPointer) {
        var scanner = JSONScanner(message)
        var hasError = false
        let isObject = scanner.members { name, scanner in
            if scanner.matches(name, "parameters") {
                let start = message.count - scanner.remaining
                guard scanner.skip() else { return false }
                let end = message.count - scanner.remaining
                parameters = Self.line(UnsafeRawBufferPointer(rebasing: message[start..<end]))
                return true
            }
            if scanner.matches(name, "continues"), let value = scanner.boolean() {
                continues = value
                return true
            }
            hasError = hasError || scanner.matches(name, "error")
            return scanner.skip()
        }
        guard isObject, scanner.isAtEnd else { return nil }
        guard hasError else { return }
        do {
            let reply: CacheWire.Reply<NoParameters> = try Message.decode(from: message)
            error = reply.error
        } catch {
            return nil
        }
    }

    /// JSON without line ends, which are white space there. They would end a line of an event stream.
    private static func line(_ json: UnsafeRawBufferPointer) -> ByteBuffer {
        var line = ByteBuffer(bytes: json)
        guard json.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return line }
        line.withUnsafeMutableReadableBytes { bytes in
            for index in bytes.indices where bytes[index] < 0x20 { bytes[index] = 0x20 }
        }
        return line
    }

    /// The parameters as values.
    func decoded<Value: Decodable>(_: Value.Type = Value.self) throws(DecodingError) -> Value {
        try Message.decode(from: parameters.readableBytesView)
    }
}
