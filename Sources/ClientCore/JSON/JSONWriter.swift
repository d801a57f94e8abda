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

    /// A number from 0.
    mutating func put(number: Int64) {
        var (digits, rest): ([UInt8], Int64) = ([], number)
        repeat {
            digits.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        bytes += digits.reversed()
    }

    /// A string with the escapes that JSON requires (RFC 8259 §7). Few strings need any.
    package mutating func put(string text: some Collection<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        if text.contains(where: Self.needsEscape) {
            for byte in text { put(escaped: byte) }
        } else {
            bytes += text
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func put(escaped byte: UInt8) {
        guard Self.needsEscape(byte) else { return bytes.append(byte) }
        guard byte < 0x20 else { return bytes += [UInt8(ascii: "\\"), byte] }
        put("\\u00")
        bytes += [UInt8(ascii: "0") + byte >> 4, Self.digit(byte & 15)]
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    mutating func end() {
        bytes.append(0)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
