import CacheCore
import CacheWire

/// The pressure at which the daemon reacts, how much memory it gives back, and how often.
struct PressureSettings: Sendable, Hashable {
    /// The stall that counts as a warning. A source that does not grant this trigger is skipped.
    var warning = PressureTrigger.warning
    /// The stall that counts as critical pressure.
    var critical = PressureTrigger.critical

    /// The share of the cached bytes that is kept at a warning, 0 to 1.
    var warningKeep = 0.75
    /// The share of the cached bytes that is kept at critical pressure, 0 to 1.
    var criticalKeep = 0.5

    /// The shortest time between two reactions to the same level.
    var coolDown: Duration = .seconds(10)

    var triggers: [PressureTrigger] { [warning, critical] }

    /// The measure at a level.
    func measure(for level: PressureLevel) -> ReliefMeasure {
        switch level {
        case .warning: ReliefMeasure(keptShare: warningKeep, tightens: false)
        case .critical: ReliefMeasure(keptShare: criticalKeep, tightens: true)
        }
    }
}
