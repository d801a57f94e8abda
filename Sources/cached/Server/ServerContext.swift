import CacheCore
import CacheValues
import CacheWire
import Logging
import NIOCore
import NIOPosix

/// The parts of the daemon that every connection and every call uses.
struct ServerContext: Sendable {
    let cache: Cache
    let replies: ReplyWriter
    let loop: any EventLoop
    /// All connections, those of the hot loop too.
    let connections: OpenConnections
    let registry: ConnectionRegistry
    let broadcaster: Broadcaster
    /// For long work on the event loop.
    let timeSlices: LoopTimeSlices
    /// For short calls, on the event loop.
    let turns: CallTurns
    let descriptors: DescriptorSender
    /// For calls that read files or name many URLs.
    let workers: CallWorkers
    /// For the pages of `Watch`: there can be very many, and they must not delay the workers.
    let pager: NIOThreadPool
    /// The users who may change the cache. Used on the event loop only.
    let managers: NIOLoopBoundBox<Managers>
    let home: Namespaces
    let logger: Logger
    let pressure: PressureMonitor
    let pressureNews: PressureNews
    let relief: PressureRelief
    /// The paths of the directory and of the socket, and whether the cache is shared.
    let whereabouts: Methods.Where.Reply
    let startedAt = ContinuousClock.Instant.now
    /// The same moment by the wall clock.
    let startTime = UnixTime.now
}
