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
        let report = PressureReport(
            level: level, cause: .person, source: Methods.Pressure.name.rawValue)
        server.relief.react(to: report) { relief in
            reply(server.replies.message(relief.evicted, relief.failure))
        }
    }
}
