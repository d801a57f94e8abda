import Glibc

/// The speed of one download, smoothed: what happened τ seconds ago weighs 1/e of what happens now.
///
/// The daemon tells of bytes in steps, each 1 % of all. Between two of them less than a step has come.
struct TransferRate: Hashable {
    /// What it seems to be at present; `nil` until two samples have come.
    private(set) var bytesPerSecond: Double?
    /// What it was when bytes were told last.
    private var estimate: Double?
    private var last: Sample?

    private struct Sample: Hashable {
        var bytes: Int
        var at: Duration
    }

    /// τ. Short enough to see a stall, long enough to read the digits.
    private static let timeConstant = 2.0

    /// Seconds without news that are news.
    private static let silenceThreshold = 1.0
    /// Seconds without a byte after which nothing comes at all, and steps as long.
    private static let stall = (seconds: 5.0, steps: 3.0)
    /// What a download is held for that has not told its speed, in bytes a second.
    private static let assumedRate = 10_000.0

    /// Takes in that `bytes` in all were there at `now`. A count that falls is a new attempt.
    mutating func sample(bytes: Int, now: Duration) {
        guard let last, bytes >= last.bytes else {
            self = TransferRate()
            self.last = Sample(bytes: bytes, at: now)
            return
        }
        let elapsed = (now - last.at) / .seconds(1)
        // What was known is no news, and two samples at one moment say nothing about speed.
        guard bytes > last.bytes, elapsed >= 0.001 else { return }
        let present = Double(bytes - last.bytes) / elapsed
        let weight = 1 - exp(-elapsed / Self.timeConstant)
        estimate = estimate.map { $0 + (present - $0) * weight } ?? present
        bytesPerSecond = estimate
        self.last = Sample(bytes: bytes, at: now)
    }

    /// Takes in that nothing was told until `now`, so that fewer than `step` bytes have come.
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
