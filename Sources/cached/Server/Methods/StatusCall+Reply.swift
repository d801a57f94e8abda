import CacheCore
import CacheKey
import CacheWire
import NIOCore

extension StatusCall {
    /// Writes the reply to a call that the decoder has read: one with details, or one that the scanner leaves to it.
    static func writeReply(
        _ parameters: Methods.Status.Parameters, from server: ServerContext,
        to output: inout ByteBuffer
    ) {
        server.writeItems(
            parameters.urls.map { server.named($0) }, withDetails: parameters.details == true,
            to: &output)
    }

    /// Writes the reply without strings or an encoder, with one lookup in the cache for all URLs.
    ///
    /// - Parameter message: the message that the call was found in.
    func writeReply(
        _ message: UnsafeRawBufferPointer, from server: ServerContext, to output: inout ByteBuffer
    ) {
        let keys = urls.map { CacheKey(urlBytes: UnsafeRawBufferPointer(rebasing: message[$0])) }
        let lookups = server.cache.lookup(keys)
        let items = server.replies.items
        server.replies.writeItems(of: keys.indices, to: &output) { index, output in
            let text = UnsafeRawBufferPointer(rebasing: message[urls[index]])
            if let problem = CacheURL.problem(in: text) {
                items.write(invalid: text, problem, to: &output)
            } else {
                items.write(
                    url: text, keys[index], lookups[index],
                    partial: server.partial(keys[index], lookups[index]), to: &output)
            }
        }
    }
}

extension Methods.Status.Parameters {
    /// Whether an answer takes reading attributes of files.
    var readsFiles: Bool {
        details == true || urls.contains { $0.hasPrefix(RequestedURL.digestPrefix) }
    }
}
