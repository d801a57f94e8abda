import Glibc

/// The smoothed speed of one download: a sample that is τ seconds old has 1/e of the weight of a
/// new one.
///
/// The daemon reports progress in steps of 1 % of the total. Between two reports less than one step
/// has arrived.
struct TransferRate: Hashable {
    /// The estimated speed; `nil` until there are two samples.
    private(set) var bytesPerSecond: Double?
    /// The estimate at the last report.
    private var estimate: Double?
    private var last: Sample?

    private struct Sample: Hashable {
        var bytes: Int
        var at: Duration
    }

    /// τ. It is short enough to show a stall and long enough for the digits to be readable.
    private static let timeConstant = 2.0

    /// Seconds without a report after which the displayed speed starts to fall.
    private static let silenceThreshold = 1.0
    /// A download counts as stalled after this many seconds without a report, and not before this
    /// many steps should have arrived.
    private static let stall = (seconds: 5.0, steps: 3.0)
    /// The speed that is assumed for a download without two samples, in bytes a second.
    private static let assumedRate = 10_000.0

    /// Records that `bytes` in total have arrived at `now`. If the count falls, a new attempt has
    /// started.
    mutating func sample(bytes: Int, now: Duration) {
        guard let last, bytes >= last.bytes else {
            self = TransferRate()
            self.last = Sample(bytes: bytes, at: now)
            return
        }
        let elapsed = (now - last.at) / .seconds(1)
        // A repeated count is not a new sample, and two samples at the same moment have no speed.
        guard bytes > last.bytes, elapsed >= 0.001 else { return }
        let present = Double(bytes - last.bytes) / elapsed
        let weight = 1 - exp(-elapsed / Self.timeConstant)
        estimate = estimate.map { $0 + (present - $0) * weight } ?? present
        bytesPerSecond = estimate
        self.last = Sample(bytes: bytes, at: now)
    }

    /// Records that there was no report until `now`, so that fewer than `step` bytes have arrived
    /// since the last one.
    mutating func waited(step: Int, now: Duration) {
        guard let last else { return }
        let silence = (now - last.at) / .seconds(1)
        guard silence >= Self.silenceThreshold else { return }
        let stepSeconds = Double(step) / (estimate ?? Self.assumedRate)
        if silence >= max(Self.stall.seconds, Self.stall.steps * stepSeconds) {
            bytesPerSecond = 0
        } else if let estimate {
            bytesPerSecond = min(estimate, Double(step) / silence)
        }
    }
}
