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

    /// Which reports evict images.
    var evicts = PressureEviction.auto

    /// The shortest time between two reactions to the same level.
    var coolDown: Duration = .seconds(10)

    var triggers: [PressureTrigger] { [warning, critical] }

    /// The share of the cached bytes that a level keeps, 0 to 1.
    func keptShare(at level: PressureLevel) -> Double {
        switch level {
        case .warning: warningKeep
        case .critical: criticalKeep
        }
    }
}
