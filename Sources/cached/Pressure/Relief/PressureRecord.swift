import CacheCore
import CacheFetching
import CacheValues
import CacheWire

/// The reactions to memory pressure since the daemon started.
struct PressureRecord: Sendable, Hashable {
    struct Reaction: Sendable, Hashable {
        var report: PressureReport
        /// When it ended.
        var at: UnixTime
        var relief: MemoryRelief
    }

    /// The number of reactions that have ended.
    private(set) var count = 0
    /// The reaction that ended last.
    private(set) var last: Reaction?

    mutating func reacted(_ reaction: Reaction) {
        count += 1
        last = reaction
    }

    /// The values for `Stats`. Those of the last reaction are absent if there has been none.
    ///
    /// - Parameter source: the source that is watched now.
    func metrics(source: String) -> [String: JSONValue] {
        var metrics: [String: JSONValue] = [
            "pressureSource": .string(source), "pressureReactions": .int(count),
        ]
        guard let last else { return metrics }
        let (relief, figures) = (last.relief, last.relief.figures)
        metrics["pressureLastSource"] = .string(last.report.source)
        metrics["pressureLastLevel"] = .string(last.report.level.rawValue)
        metrics["pressureLastAt"] = .int(Int(last.at.rawValue))
        metrics["pressureLastEntries"] = .int(relief.evicted.entries)
        metrics["pressureLastBytes"] = .int(Int(relief.evicted.bytes))
        metrics["pressureLastReason"] = .string(relief.reason.rawValue)
        metrics["pressureLastDroppedEntries"] = .int(relief.dropped.entries)
        metrics["pressureLastDroppedBytes"] = .int(Int(relief.dropped.bytes))
        metrics["pressureLastAvailable"] = .int(Int(figures.available))
        metrics["pressureLastMachine"] = .int(Int(figures.machine))
        metrics["pressureLastGroupUsed"] = .int(Int(figures.groupUsed))
        metrics["pressureLastGroupLimit"] = .int(Int(figures.groupLimit))
        metrics["pressureLastMilliseconds"] = .int(Int(relief.duration.milliseconds))
        return metrics
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { microseconds / 1000 }
}
