/// Writes a message: JSON and a NUL.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ text: StaticString) {
        for index in 0..<text.utf8CodeUnitCount { bytes.append(text.utf8Start[index]) }
    }

    /// A string with the escapes that JSON requires (RFC 8259 §7).
    mutating func put(string text: [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                put("\\u00")
                bytes += [UInt8(ascii: "0") + byte >> 4, Self.digit(byte & 15)]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func end() {
        bytes.append(0)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
