import CacheCore
import CacheFetching
import CacheKey
import CacheWire
import NIOCore
import NIOPosix

/// `Pin`: pins entries, or unpins them.
enum PinMethod {
    /// Replies with the items as they are afterwards.
    static func run(
        _ parameters: Methods.Pin.Parameters, in server: ServerContext,
        _ reply: @escaping @Sendable (ByteBuffer) -> Void
    ) {
        let urls = parameters.urls.map { server.named($0) }
        server.cache.pin(urls.compactMap(\.key), parameters.pinned) { failures in
            // The cache calls this on its own thread, which must not spend its time on a long reply.
            server.workers.submit(for: .daemon) { _ in
                var items = ByteBuffer()
                server.writeItems(urls, withDetails: true, failures: failures, to: &items)
                reply(items)
            }
        }
    }
}
