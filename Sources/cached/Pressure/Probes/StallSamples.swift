import CacheWire

/// Finds pressure in totals that are read at intervals.
struct StallSamples: Sendable, Hashable {
    /// The stall that counts as each level.
    let triggers: [PressureTrigger]
    /// The totals that were read last.
    private(set) var last: StallTotals
    private(set) var lastAt: ContinuousClock.Instant

    init(_ triggers: [PressureTrigger], _ totals: StallTotals, now: ContinuousClock.Instant) {
        self.triggers = triggers
        last = totals
        lastAt = now
    }

    /// How long to wait between two readings.
    var interval: Duration { triggers.map(\.window).min() ?? .seconds(2) }

    /// These are the totals now. Returns the worst level that they mean. If this reading is late, the waiting counts as
    /// if it had been spread evenly.
    mutating func taken(_ totals: StallTotals, now: ContinuousClock.Instant) -> PressureLevel? {
        let elapsed = now - lastAt
        let reached = triggers.filter { trigger in
            let growth = totals[trigger.kind] - last[trigger.kind]
            return growth >= trigger.stall && growth / elapsed >= trigger.stall / trigger.window
        }
        last = totals
        lastAt = now
        return reached.map(\.level).max()
    }
}
