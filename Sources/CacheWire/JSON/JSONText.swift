internal import ClientCore

/// Writes JSON on one line (RFC 8259). Slashes are not escaped.
public struct JSONText: Sendable {
    private var writer = JSONWriter()
    /// Whether the next member or element follows another one.
    private var needsComma = false

    package init() {}

    /// The text so far, in UTF-8.
    package var bytes: [UInt8] { writer.bytes }

    /// Writes an object. `members` calls ``member(_:_:)`` for each member.
    public mutating func object(_ members: (inout JSONText) -> Void) {
        nest("{", "}", members)
    }

    /// Writes a member of an object; nothing if the value is `nil`.
    public mutating func member(_ name: String, _ value: (some JSONWritable)?) {
        guard let value else { return }
        separate()
        string(name)
        writer.put(":")
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
        writer.put(raw: text.utf8)
    }

    /// Writes a string with the escapes that JSON requires.
    package mutating func string(_ text: String) {
        writer.put(string: text.utf8)
    }

    private mutating func nest(
        _ opening: StaticString, _ closing: StaticString, _ body: (inout JSONText) -> Void
    ) {
        writer.put(opening)
        needsComma = false
        body(&self)
        writer.put(closing)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { writer.put(",") }
        needsComma = true
    }
}
