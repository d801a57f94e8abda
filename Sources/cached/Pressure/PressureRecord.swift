import CacheCore
import CacheWire

/// The reactions to memory pressure since the daemon started.
struct PressureRecord: Sendable, Hashable {
    struct Reaction: Sendable, Hashable {
        /// The origin of the report: a source, a signal, or the method `Pressure`.
        var source: String
        var level: PressureLevel
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
        metrics["pressureLastSource"] = .string(last.source)
        metrics["pressureLastLevel"] = .string(last.level.rawValue)
        metrics["pressureLastAt"] = .int(Int(last.at.rawValue))
        metrics["pressureLastEntries"] = .int(last.relief.evicted.entries)
        metrics["pressureLastBytes"] = .int(Int(last.relief.evicted.bytes))
        metrics["pressureLastDroppedEntries"] = .int(last.relief.dropped.entries)
        metrics["pressureLastDroppedBytes"] = .int(Int(last.relief.dropped.bytes))
        metrics["pressureLastMilliseconds"] = .int(Int(last.relief.duration.milliseconds))
        return metrics
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { microseconds / 1000 }
}
