import CacheWire

/// Decides how far a reaction to memory pressure evicts.
///
/// A request evicts at once to the share that its level keeps, but only a critical one evicts what was fetched in the
/// last minute. Pressure that the daemon found is often a stall of
/// other programs. On a disk, an image that is evicted then gives back no more than its clean pages, which are dropped
/// anyway. So such pressure evicts only if the files are memory, or if memory is really short, and it evicts in steps:
///
///     drop pages → look → evict 5 % → look → evict 5 % → … → memory is no longer short, or the share is reached
struct EvictionRule: Sendable, Hashable {
    enum Verdict: Sendable, Hashable {
        /// Evict until this share of the bytes is left, 0 to 1, then look again.
        case evict(toShare: Double, Reason)
        /// Evict nothing more.
        case stop(Reason)
    }

    /// Why entries are evicted, or why not, as the log and `Stats` show it.
    enum Reason: String, Sendable, Hashable {
        case requested
        case always = "--pressure-evicts always"
        case never = "--pressure-evicts never"
        case inMemory = "the files are memory"
        case shortage = "memory is short"
        case noShortage = "memory is not short"
        case notInPlace = "the directory is not in place"
    }

    /// The share of the bytes that one step evicts.
    static let step = 0.05
    /// Seconds for which an image stays after it was fetched. Its reader may not have opened it before.
    static let newness: Int64 = 60

    private let level: PressureLevel
    /// The reason if the eviction needs no look at the memory; `nil` if the memory decides.
    private let reasonWithoutLook: Reason?

    init(_ report: PressureReport, _ evicts: PressureEviction) {
        level = report.level
        reasonWithoutLook =
            switch (report.cause, evicts) {
            case (.person, _), (.serviceManager, .auto): .requested
            case (_, .always): .always
            case (_, .never): .never
            case (.daemon, .auto): nil
            }
    }

    /// Whether images that were fetched just now stay. A critical request gives up even those.
    var sparesNewImages: Bool { reasonWithoutLook == nil || level != .critical }

    /// The decision after this many steps.
    func verdict(afterSteps steps: Int, isInMemory: Bool, _ figures: MemoryFigures) -> Verdict {
        switch reasonWithoutLook {
        case .never: .stop(.never)
        case let reason? where steps > 0: .stop(reason)
        case let reason?: .evict(toShare: level.keptShare, reason)
        case nil: verdictByMemory(afterSteps: steps, isInMemory: isInMemory, figures)
        }
    }

    private func verdictByMemory(
        afterSteps steps: Int, isInMemory: Bool, _ figures: MemoryFigures
    ) -> Verdict {
        // The limit that causes the pressure can be one that the figures do not show.
        if isInMemory, steps == 0 { return nextStep(1, to: level, .inMemory) }
        guard let shortage = figures.shortage else { return .stop(.noShortage) }
        return nextStep(steps + 1, to: min(level, shortage), .shortage)
    }

    private func nextStep(_ number: Int, to level: PressureLevel, _ reason: Reason) -> Verdict {
        let kept = level.keptShare
        let (before, after) = (share(after: number - 1), share(after: number))
        return before <= kept ? .stop(reason) : .evict(toShare: max(after, kept), reason)
    }

    private func share(after steps: Int) -> Double { 1 - Self.step * Double(steps) }
}
