import CacheWire

/// A descriptor or a time that the monitor's thread waits for. Only that thread uses it.
protocol PressureProbe: AnyObject {
    /// The descriptor for poll(2); -1 if the probe waits for a time only.
    var descriptor: Int32 { get }
    /// The events that poll(2) waits for.
    var events: Int16 { get }
    /// When to read without an event; `nil` for never.
    var nextRead: ContinuousClock.Instant? { get }
    /// How long a report is valid without another one; `nil` if the source never reports the end of pressure.
    var validity: Duration? { get }

    /// Handles events, or the time of the next read. Returns the pressure that they mean, if any.
    func read(_ events: Int16, now: ContinuousClock.Instant) throws(PressureFailure)
        -> PressureLevel?
}
