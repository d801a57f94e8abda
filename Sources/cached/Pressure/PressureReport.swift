import CacheWire

/// Memory pressure that the daemon has to react to.
struct PressureReport: Sendable, Hashable {
    var level: PressureLevel
    var cause: PressureCause
    /// The origin of the report, for `Stats` and the log: a source, a signal, or the method `Pressure`.
    var source: String
}
