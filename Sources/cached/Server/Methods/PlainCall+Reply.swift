import CacheCore
import CacheFetching
import CacheKey
import NIOCore

extension PlainCall {
    /// Writes the reply without strings or an encoder.
    ///
    /// - Parameters:
    ///   - message: the message that the call was found in.
    ///   - places: where the keys of the call and their states are in the arrays.
    func writeReply(
        _ message: UnsafeRawBufferPointer, _ places: Range<Int>, of keys: [CacheKey],
        _ lookups: [Lookup], from server: ServerContext, to output: inout ByteBuffer
    ) {
        var place = places.lowerBound
        server.replies.writeItems(of: texts(in: message), to: &output) { text, output in
            let (key, lookup) = (keys[place], lookups[place])
            server.replies.items.write(
                url: text, key, lookup, partial: server.partial(key, lookup), to: &output)
            place += 1
        }
    }
}
