/// Measures time on a machine shared with other work: the stopwatch stands still while a processor is
/// taken away by the host or by other programs.
///
///     let watch = Stopwatch()
///     …
///     #expect(watch.time < .seconds(1))
public struct Stopwatch: Sendable {
    private let stalls = ProcessorStallMonitor.shared
    private let start = ContinuousClock.now

    public init() {}

    /// The time since the stopwatch was created.
    public var time: Duration { time(until: .now) }

    /// The time from its creation to an earlier moment.
    public func time(until end: ContinuousClock.Instant) -> Duration {
        end - start - stalls.time(from: start, until: end)
    }
}
