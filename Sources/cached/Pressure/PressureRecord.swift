import CacheCore
import CacheWire

/// What has been done about memory pressure since the start.
struct PressureRecord: Sendable, Hashable {
    /// One reaction.
    struct Reaction: Sendable, Hashable {
        /// Who said that memory is short: a source, a signal, or the call `Pressure`.
        var source: String
        var level: PressureLevel
        /// When it was done.
        var at: UnixTime
        var relief: MemoryRelief
    }

    /// Reactions that are done.
    private(set) var count = 0
    /// The one that ended last.
    private(set) var last: Reaction?

    mutating func reacted(_ reaction: Reaction) {
        count += 1
        last = reaction
    }

    /// What `Stats` says; there is a last reaction only once there was one.
    ///
    /// - Parameter source: what is watched now.
    func figures(source: String) -> [String: JSONValue] {
        var figures: [String: JSONValue] = [
            "pressureSource": .string(source), "pressureReactions": .int(count),
        ]
        guard let last else { return figures }
        figures["pressureLastSource"] = .string(last.source)
        figures["pressureLastLevel"] = .string(last.level.rawValue)
        figures["pressureLastAt"] = .int(Int(last.at.rawValue))
        figures["pressureLastEntries"] = .int(last.relief.evicted.entries)
        figures["pressureLastBytes"] = .int(Int(last.relief.evicted.bytes))
        figures["pressureLastDroppedEntries"] = .int(last.relief.dropped.entries)
        figures["pressureLastDroppedBytes"] = .int(Int(last.relief.dropped.bytes))
        figures["pressureLastMilliseconds"] = .int(Int(last.relief.duration.milliseconds))
        return figures
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { microseconds / 1000 }
}
