/// Writes JSON on one line (RFC 8259). Slashes are not escaped.
public struct JSONText: Sendable {
    /// The text so far, in UTF-8.
    package var bytes: [UInt8] = []
    /// Whether the next member or element follows another one.
    private var needsComma = false

    package init() {}

    /// Writes an object. `members` calls ``member(_:_:)`` for each member.
    public mutating func object(_ members: (inout JSONText) -> Void) {
        nest("{", "}", members)
    }

    /// Writes a member of an object; nothing if the value is `nil`.
    public mutating func member(_ name: String, _ value: (some JSONWritable)?) {
        guard let value else { return }
        separate()
        string(name)
        bytes.append(UInt8(ascii: ":"))
        value.write(to: &self)
    }

    package mutating func array(_ elements: some Sequence<some JSONWritable>) {
        nest("[", "]") { json in
            for element in elements {
                json.separate()
                element.write(to: &json)
            }
        }
    }

    /// Writes text that is JSON already.
    package mutating func raw(_ text: String) {
        bytes += text.utf8
    }

    /// Writes a string with the escapes that JSON requires (RFC 8259 §7).
    package mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy({ !Self.needsEscape($0) }) {
            bytes += text.utf8
        } else {
            for byte in text.utf8 { escape(byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        guard Self.needsEscape(byte) else { return bytes.append(byte) }
        guard byte < 0x20 else { return bytes += [UInt8(ascii: "\\"), byte] }
        let digits = Array("0123456789abcdef".utf8)
        bytes += "\\u00".utf8
        bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private mutating func nest(
        _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ body: (inout JSONText) -> Void
    ) {
        bytes.append(UInt8(ascii: opening))
        needsComma = false
        body(&self)
        bytes.append(UInt8(ascii: closing))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}
