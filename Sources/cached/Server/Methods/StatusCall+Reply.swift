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
        let keys = (parameters.keys ?? []).compactMap { CacheKey($0) }
        server.writeItems(
            parameters.urls.map { server.named($0) } + keys.map { server.entry($0) },
            withDetails: parameters.details == true, to: &output)
    }

    /// Checks the names of files in a call.
    static func check(_ parameters: Methods.Status.Parameters) throws(WireError) {
        guard let wrong = parameters.keys?.first(where: { CacheKey($0) == nil }) else { return }
        throw .invalidParameter(
            parameter: "keys", reason: "\"\(wrong.printable)\" is not the name of an image's file")
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
        details == true || keys != nil
            || urls.contains { $0.hasPrefix(RequestedURL.digestPrefix) }
    }
}
