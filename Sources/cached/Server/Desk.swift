import CacheCore
import CacheWire
import Logging
import NIOPosix

/// What every connection works with.
struct Desk: Sendable {
    let cache: Cache
    let replies: ReplyWriter
    let hub: Hub
    /// For calls that read files: they must not hold up the event loop.
    let pool: NIOThreadPool
    /// For the pages of a `Watch`: they may be very many, and must not hold up those calls.
    let pager: NIOThreadPool
    let logger: Logger
    let pressure: PressureMonitor
    let relief: PressureRelief
    /// What `Stats` says beyond the cache's own figures.
    let facts: DaemonFacts
}

/// What does not change while the daemon runs.
struct DaemonFacts: Sendable {
    let directory: String
    let socket: String
    let curlVersion: String
    let startedAt: ContinuousClock.Instant
}
