/// Measures what a promise allows, on a machine that others share: its time stands still while one of the
/// processors runs nothing of ours, because the host or other programs have it.
///
///     let watch = Stopwatch()
///     …
///     #expect(watch.time < .seconds(1))
public struct Stopwatch: Sendable {
    private let stalls = ProcessorStallMonitor.shared
    private let start = ContinuousClock.now

    public init() {}

    /// Since it was made.
    public var time: Duration { time(until: .now) }

    /// From when it was made to another moment that has been.
    public func time(until end: ContinuousClock.Instant) -> Duration {
        end - start - stalls.time(from: start, until: end)
    }
}
