import CacheWire
import Glibc

/// A pressure file read at intervals, where the kernel grants no trigger: before Linux 6.4 to nobody
/// without privilege. The only probe that wakes the daemon when nothing happens.
final class SampleProbe: PressureProbe {
    private let figures: ProbeDescriptor
    private var samples: StallSamples

    init(
        path: String, _ triggers: [PressureTrigger], now: ContinuousClock.Instant
    ) throws(PressureFailure) {
        figures = try ProbeDescriptor(path, O_RDONLY)
        samples = StallSamples(triggers, try figures.totals(), now: now)
    }

    let descriptor: Int32 = -1
    let events: Int16 = 0
    var nextLook: ContinuousClock.Instant? { samples.lastAt + samples.interval }
    var standing: Duration? { samples.interval * 5 / 4 }

    func look(_ events: Int16, now: ContinuousClock.Instant) throws(PressureFailure)
        -> PressureLevel?
    {
        samples.taken(try figures.totals(), now: now)
    }
}
