import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import NIOCore

/// `Open`: hands over the file of a cached image.
enum OpenMethod {
    /// Opens the file, and writes the reply. Reads the directory.
    static func run(
        _ parameters: Methods.Open.Parameters, in server: ServerContext,
        replyingTo output: inout ByteBuffer
    ) -> OpenImage? {
        let url = server.named(parameters.url)
        guard let key = url.key else {
            write(url, .missing(nil), from: server, to: &output)
            return nil
        }
        switch server.cache.open(key) {
        case .success(let image):
            write(url, .cached(image.facts), from: server, to: &output)
            return image
        case .failure(let failure):
            // The state, and why there is no descriptor.
            write(url, server.cache.lookup([key])[0], failure, from: server, to: &output)
            return nil
        }
    }

    /// The reply in the place of one whose descriptor cannot be sent.
    static func refusal(
        _ parameters: Methods.Open.Parameters, _ obstacle: DescriptorSender.Obstacle,
        from server: ServerContext
    ) -> ByteBuffer {
        let url = server.named(parameters.url)
        let failure = Failure(.tooManyFiles, "\(obstacle)")
        let lookup = url.key.map { server.cache.lookup([$0])[0] } ?? .missing(nil)
        var output = ByteBuffer()
        write(url, lookup, failure, from: server, to: &output)
        return output
    }

    private static func write(
        _ url: RequestedURL, _ lookup: Lookup, _ failure: CacheValues.Failure? = nil,
        from server: ServerContext, to output: inout ByteBuffer
    ) {
        output.writeStaticString("{\"parameters\":{\"item\":")
        url.text.withUTF8Bytes { text in
            switch (url.meaning, url.key) {
            case (.nothing(let problem), _):
                server.replies.items.write(unknown: text, problem, to: &output)
            case (_, let key?):
                server.replies.items.write(
                    url: text, key, lookup, failure: failure, to: &output)
            case (_, nil): break
            }
        }
        output.writeStaticString("}}\0")
    }
}
