import CacheCore
import CacheWire
import Logging
import Synchronization

/// Reacts to memory pressure: chooses the measure, has the cache carry it out, and records it for the log and `Stats`.
///
/// Thread-safe. Two calls at the same time are two reactions, and each measures what is cached when it begins.
final class PressureRelief: Sendable {
    /// Carries out a measure, then calls its second argument once, from any thread.
    typealias Relieve =
        @Sendable (ReliefMeasure, @escaping @Sendable (MemoryRelief) -> Void) -> Void

    private let settings: PressureSettings
    private let logger: Logger
    private let relieve: Relieve
    private let giveBack: @Sendable () -> Void
    private let shared = Mutex(PressureRecord())

    /// - Parameter giveBack: returns the allocator's free memory to the kernel.
    init(
        _ settings: PressureSettings, logger: Logger,
        giveBack: @escaping @Sendable () -> Void = { ProcessMemory.giveBack() },
        relieve: @escaping Relieve
    ) {
        self.settings = settings
        self.logger = logger
        self.giveBack = giveBack
        self.relieve = relieve
    }

    /// The reactions so far.
    var record: PressureRecord { shared.withLock { $0 } }

    /// Reacts. Calls `completion` from any thread, once the files are removed and `record` contains the reaction.
    func react(
        _ level: PressureLevel, source: String,
        completion: @escaping @Sendable (MemoryRelief) -> Void
    ) {
        relieve(settings.measure(for: level)) { relief in
            // Only now is the memory free that the index held for the evicted entries.
            if level == .critical { self.giveBack() }
            self.finish(
                PressureRecord.Reaction(source: source, level: level, at: .now, relief: relief))
            completion(relief)
        }
    }

    /// Reacts, and returns when the reaction has ended.
    func reactAndWait(_ level: PressureLevel, source: String) {
        let done = Inbox<MemoryRelief>()
        react(level, source: source) { done.put($0) }
        _ = done.takeAll()
    }

    private func finish(_ reaction: PressureRecord.Reaction) {
        shared.withLock { $0.reacted(reaction) }
        let relief = reaction.relief
        if let failure = relief.failure {
            logger.warning(
                "could not evict all entries although memory is short",
                metadata: [
                    "source": "\(reaction.source)", "level": "\(reaction.level.rawValue)",
                    "error": "\(failure.message)",
                ])
        }
        logger.info(
            "memory given back",
            metadata: [
                "source": "\(reaction.source)", "level": "\(reaction.level.rawValue)",
                "entries": "\(relief.evicted.entries)", "bytes": "\(relief.evicted.bytes)",
                "dropped-entries": "\(relief.dropped.entries)",
                "dropped-bytes": "\(relief.dropped.bytes)",
                "milliseconds": "\(relief.duration.milliseconds)",
            ])
    }
}
