import CacheCore
import CacheWire

/// When the daemon believes that memory is short, how much it gives back then, and how often.
struct PressureSettings: Sendable, Hashable {
    /// The stall that makes a warning; it has to be granted, or its source is passed over.
    var warning = PressureTrigger.warning
    /// The stall that makes critical pressure.
    var critical = PressureTrigger.critical

    /// Share of the bytes held that stays at a warning, 0 to 1.
    var warningKeep = 0.75
    /// Share of the bytes held that stays at critical pressure, 0 to 1.
    var criticalKeep = 0.5

    /// The least time between two reactions to the same pressure.
    var coolDown: Duration = .seconds(10)

    var triggers: [PressureTrigger] { [warning, critical] }

    /// What is done at a level.
    func measure(for level: PressureLevel) -> ReliefMeasure {
        switch level {
        case .warning: ReliefMeasure(keptShare: warningKeep, tightens: false)
        case .critical: ReliefMeasure(keptShare: criticalKeep, tightens: true)
        }
    }
}
