/// Writes a message: JSON and a NUL.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func put(_ text: StaticString) {
        for index in 0..<text.utf8CodeUnitCount { bytes.append(text.utf8Start[index]) }
    }

    /// Text that is JSON already.
    package mutating func put(raw text: some Sequence<UInt8>) {
        bytes += text
    }

    /// A string with the escapes that JSON requires (RFC 8259 §7).
    package mutating func put(string text: some Sequence<UInt8>) {
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
