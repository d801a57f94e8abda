import CacheCore
import CacheKey
import CacheWire
import NIOCore

/// A `Status` that was decoded: one with details, or one that the scanner of ``PlainCall`` leaves to the decoder.
enum StatusMethod {
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
}

extension Methods.Status.Parameters {
    /// Whether an answer takes reading attributes of files.
    var readsFiles: Bool {
        details == true || keys != nil
            || urls.contains { $0.hasPrefix(RequestedURL.digestPrefix) }
    }
}
