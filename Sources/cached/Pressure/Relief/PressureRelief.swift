import CacheCore
import CacheFetching
import CacheValues
import CacheWire
import Logging
import Synchronization

/// Reacts to memory pressure: drops pages, evicts as far as ``EvictionRule`` says, and records both for the log and
/// `Stats`.
///
/// Thread-safe. Two calls at the same time are two reactions, and each measures what is cached when it begins.
final class PressureRelief: Sendable {
    typealias Completion = @Sendable (MemoryRelief) -> Void

    private let evicts: Mutex<PressureEviction>
    private let logger: Logger
    private let cache: any RelievedCache
    private let look: @Sendable () -> MemoryFigures
    private let giveBack: @Sendable () -> Void
    private let shared = Mutex(PressureRecord())

    /// - Parameters:
    ///   - look: measures the memory.
    ///   - giveBack: returns the allocator's free memory to the kernel.
    init(
        _ evicts: PressureEviction, cache: any RelievedCache, logger: Logger,
        look: @escaping @Sendable () -> MemoryFigures = { .now() },
        giveBack: @escaping @Sendable () -> Void = { ProcessMemory.giveBack() }
    ) {
        self.evicts = Mutex(evicts)
        self.cache = cache
        self.logger = logger
        self.look = look
        self.giveBack = giveBack
    }

    /// Reactions that begin from now on follow this rule.
    func apply(_ evicts: PressureEviction) { self.evicts.withLock { $0 = evicts } }

    /// The reactions so far.
    var record: PressureRecord { shared.withLock { $0 } }

    /// A reaction in progress.
    private struct RunningReaction: Sendable {
        let report: PressureReport
        let rule: EvictionRule
        let start = ContinuousClock.now
        var held = PageDrop()
        var steps = 0
        var relief = MemoryRelief()
        let completion: Completion

        /// Whether the daemon gives back its own free memory and idle connections too.
        var isThorough: Bool { report.level == .critical || report.cause == .daemon }
    }

    /// Reacts. Calls `completion` from any thread, once the files are removed and `record` contains the reaction.
    func react(to report: PressureReport, completion: @escaping Completion) {
        let reaction = RunningReaction(
            report: report, rule: EvictionRule(report, evicts.withLock { $0 }),
            completion: completion)
        if report.level == .critical { cache.throttleDownloads() }
        if reaction.isThorough { cache.closeIdleConnections() }
        // The pages of the entries that the level may evict, and of the colder half of the others.
        let share = 1 - report.level.keptShare / 2
        cache.dropPages(ofColdest: share) { held in
            var reaction = reaction
            reaction.held = held
            reaction.relief.dropped = held.dropped
            reaction.relief.failure = held.failure
            self.proceed(reaction)
        }
    }

    /// Reacts, and returns when the reaction has ended.
    func reactAndWait(to report: PressureReport) {
        let done = Inbox<MemoryRelief>()
        react(to: report) { done.put($0) }
        _ = done.takeAll()
    }

    /// Looks at the memory, and evicts the next step if the rule says so.
    private func proceed(_ former: RunningReaction) {
        var reaction = former
        // The index also holds less memory after an eviction.
        if reaction.isThorough { giveBack() }
        let figures = look()
        let verdict = verdict(on: reaction, figures)
        if reaction.steps == 0 {
            reaction.relief.figures = figures
            reaction.relief.reason = verdict.reason
        }
        guard case .evict(let share, _) = verdict else { return finish(reaction) }
        reaction.steps += 1
        // Partials are not evicted, and no further entries are evicted in their place.
        let goal = Int64(Double(reaction.held.entryBytes) * share) + reaction.held.partialBytes
        let limit: UnixTime? = reaction.rule.sparesNewImages ? .now + -EvictionRule.newness : nil
        cache.evict(toBytes: goal, fetchedBefore: limit) { [reaction] evicted, failure in
            var reaction = reaction
            reaction.relief.evicted += evicted
            reaction.relief.failure = failure
            if evicted == .nothing { self.finish(reaction) } else { self.proceed(reaction) }
        }
    }

    private func verdict(
        on reaction: RunningReaction, _ figures: MemoryFigures
    ) -> EvictionRule.Verdict {
        guard reaction.relief.failure == nil else { return .stop(.notInPlace) }
        return reaction.rule.verdict(
            afterSteps: reaction.steps, isInMemory: cache.isInMemory, figures)
    }

    private func finish(_ reaction: RunningReaction) {
        var relief = reaction.relief
        relief.duration = reaction.start.duration(to: .now)
        let entry = PressureRecord.Reaction(report: reaction.report, at: .now, relief: relief)
        shared.withLock { $0.reacted(entry) }
        log(entry)
        reaction.completion(relief)
    }

    private func log(_ reaction: PressureRecord.Reaction) {
        let (report, relief) = (reaction.report, reaction.relief)
        if let failure = relief.failure {
            logger.warning(
                "could not evict all entries although memory is short",
                metadata: [
                    "source": "\(report.source)", "level": "\(report.level.rawValue)",
                    "error": "\(failure.message)",
                ])
        }
        logger.info(
            "memory given back",
            metadata: [
                "source": "\(report.source)", "level": "\(report.level.rawValue)",
                "entries": "\(relief.evicted.entries)", "bytes": "\(relief.evicted.bytes)",
                "reason": "\(relief.reason.rawValue)",
                "dropped-entries": "\(relief.dropped.entries)",
                "dropped-bytes": "\(relief.dropped.bytes)",
                "available": "\(relief.figures.available)", "machine": "\(relief.figures.machine)",
                "group-used": "\(relief.figures.groupUsed)",
                "group-limit": "\(relief.figures.groupLimit)",
                "milliseconds": "\(relief.duration.milliseconds)",
            ])
    }
}

extension EvictionRule.Verdict {
    fileprivate var reason: EvictionRule.Reason {
        switch self {
        case .evict(_, let reason), .stop(let reason): reason
        }
    }
}
