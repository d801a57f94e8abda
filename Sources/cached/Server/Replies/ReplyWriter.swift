import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import NIOCore

/// Writes complete replies, including the NUL at their end.
struct ReplyWriter {
    let items: ItemWriter

    /// Writes a reply of items. `write` adds one item; the commas between items are written here. `after` and
    /// `removed` are written only if they are given.
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
        if let removed { writeList(removed, as: ",\"removed\":[", to: &output) }
        output.writeStaticString(continues ? "},\"continues\":true}\0" : "}}\0")
    }

    /// Writes a reply to `List` with keys in place of items.
    func writeKeys(_ keys: [CacheKey], after: String?, to output: inout ByteBuffer) {
        output.writeStaticString("{\"parameters\":{\"items\":[]")
        if let after { output.writeString(",\"after\":\"\(after)\"") }
        writeList(keys, as: ",\"keys\":[", to: &output)
        output.writeStaticString("}}\0")
    }

    private func writeList(_ keys: [CacheKey], as name: StaticString, to output: inout ByteBuffer) {
        output.writeStaticString(name)
        for (number, key) in keys.enumerated() {
            output.writeStaticString(number == 0 ? "\"" : ",\"")
            output.writeString(key.description)
            output.writeStaticString("\"")
        }
        output.writeStaticString("]")
    }

    /// A reply in a buffer of its own; see ``write(_:to:)``.
    func message(_ reply: some JSONWritable) -> ByteBuffer {
        var message = ByteBuffer()
        write(reply, to: &message)
        return message
    }

    /// The reply of `Remove`, `Evict` and `Pressure` in a buffer of its own.
    func message(_ removed: Removal, _ failure: CacheValues.Failure?) -> ByteBuffer {
        let failure = failure.map {
            CacheWire.Failure(kind: $0.kind.rawValue, message: $0.message)
        }
        let reply = RemovedEntries(
            entries: removed.entries, bytes: Int(removed.bytes), failure: failure)
        return message(Reply(reply))
    }

    /// Writes a reply that is not hot, from the type that the interface description declares.
    func write(_ reply: some JSONWritable, to output: inout ByteBuffer) {
        output.writeBytes(Message.encode(reply))
    }
}
