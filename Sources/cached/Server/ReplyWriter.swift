import CacheCore
import CacheKey
import CacheWire
import NIOCore

/// Writes whole replies, their NUL included.
struct ReplyWriter {
    let items: ItemWriter

    /// A reply of items: `write` puts in one after the other, with commas between them done here. Of the
    /// other parameters those that are given.
    func writeItems<Elements: Sequence>(
        of elements: Elements, continues: Bool = false, after: String? = nil,
        removed: [CacheKey]? = nil, to output: inout ByteBuffer,
        _ write: (Elements.Element, inout ByteBuffer) -> Void
    ) {
        output.writeStaticString("{\"parameters\":{\"items\":[")
        var isFirst = true
        for element in elements {
            if !isFirst { output.writeInteger(UInt8(ascii: ",")) }
            isFirst = false
            write(element, &output)
        }
        output.writeStaticString("]")
        if let after {
            output.writeStaticString(",\"after\":\"")
            output.writeString(after)
            output.writeStaticString("\"")
        }
        if let removed { writeRemoved(removed, to: &output) }
        output.writeStaticString(continues ? "},\"continues\":true}\0" : "}}\0")
    }

    private func writeRemoved(_ keys: [CacheKey], to output: inout ByteBuffer) {
        output.writeStaticString(",\"removed\":[")
        for (number, key) in keys.enumerated() {
            output.writeStaticString(number == 0 ? "\"" : ",\"")
            output.writeString(key.description)
            output.writeStaticString("\"")
        }
        output.writeStaticString("]")
    }

    /// A message of its own; see ``write(_:to:)``.
    func message(_ reply: some Encodable) -> ByteBuffer {
        var message = ByteBuffer()
        write(reply, to: &message)
        return message
    }

    /// An answer that is rare enough for the JSON encoder.
    func write(_ reply: some Encodable, to output: inout ByteBuffer) {
        do {
            output.writeBytes(try Message.encode(reply))
        } catch {
            preconditionFailure("a reply can't be written as JSON: \(error)")
        }
    }
}
