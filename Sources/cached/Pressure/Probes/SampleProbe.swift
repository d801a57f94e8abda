import CacheWire
import Glibc

/// A pressure file that is read at intervals, because the kernel grants no trigger. Before Linux 6.4 it grants none to
/// processes without privilege. This is the only probe that wakes the daemon when there is no pressure.
final class SampleProbe: PressureProbe {
    private let file: ProbeDescriptor
    private var samples: StallSamples

    init(
        path: String, _ triggers: [PressureTrigger], now: ContinuousClock.Instant
    ) throws(PressureFailure) {
        file = try ProbeDescriptor(path, O_RDONLY)
        samples = StallSamples(triggers, try file.totals(), now: now)
    }

    let descriptor: Int32 = -1
    let events: Int16 = 0
    var nextRead: ContinuousClock.Instant? { samples.lastAt + samples.interval }
    var validity: Duration? { samples.interval * 5 / 4 }

    func read(_ events: Int16, now: ContinuousClock.Instant) throws(PressureFailure)
        -> PressureLevel?
    {
        samples.taken(try file.totals(), now: now)
    }
}
