import CacheCore
import CacheWire
import NIOCore

/// `Pressure`: gives memory back as if a source had reported this level.
enum PressureMethod {
    /// Replies once the files are removed.
    static func run(
        _ level: PressureLevel, in server: ServerContext,
        _ reply: @escaping @Sendable (ByteBuffer) -> Void
    ) {
        server.pressure.requested(level)
        server.relief.react(level, source: Methods.Pressure.name.rawValue) { relief in
            let result = Methods.Pressure.Reply(
                entries: relief.evicted.entries, bytes: Int(relief.evicted.bytes),
                failure: relief.failure.map { .init($0) })
            reply(server.replies.message(Reply(result)))
        }
    }
}
