import CacheWire

/// One thing the monitor's thread waits on. Used by that thread alone.
protocol PressureProbe: AnyObject {
    /// What poll(2) waits on; -1 where only time is waited for.
    var descriptor: Int32 { get }
    /// The events poll(2) waits for.
    var events: Int16 { get }
    /// When to look without an event; `nil` for never.
    var nextLook: ContinuousClock.Instant? { get }
    /// How long a report stands without another one; `nil` if its end is never told.
    var standing: Duration? { get }

    /// Events came, or the time of the next look; returns the pressure they mean, if any.
    func look(_ events: Int16, now: ContinuousClock.Instant) throws(PressureFailure)
        -> PressureLevel?
}

/// Why a source can't be watched, or can't any longer: a sentence for the log.
struct PressureFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
