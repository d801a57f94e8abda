import Glibc

/// The speed of one download, smoothed: what happened τ seconds ago weighs 1/e of what happens now.
struct TransferRate: Hashable {
    /// The present estimate; `nil` until two samples have come.
    private(set) var bytesPerSecond: Double?
    private var last: Sample?

    /// When the last byte came.
    private var cameAt = Duration.zero

    private struct Sample: Hashable {
        var bytes: Int
        var at: Duration
    }

    /// τ. Short enough to see a stall, long enough to read the digits.
    private static let timeConstant = 2.0

    /// So long without news is news.
    private static let patience = Duration.seconds(1)
    /// So long without a byte, nothing comes at all.
    private static let stall = Duration.seconds(5)

    /// Takes in that `bytes` in all were there at `now`. A count that falls is a new attempt.
    mutating func sample(bytes: Int, now: Duration) {
        guard let last, bytes >= last.bytes else {
            self = TransferRate()
            cameAt = now
            self.last = Sample(bytes: bytes, at: now)
            return
        }
        let elapsed = (now - last.at) / .seconds(1)
        // Two samples at one moment say nothing about speed.
        guard elapsed >= 0.001 else { return }
        let present = Double(bytes - last.bytes) / elapsed
        let weight = 1 - exp(-elapsed / Self.timeConstant)
        bytesPerSecond = bytesPerSecond.map { $0 + (present - $0) * weight } ?? present
        self.last = Sample(bytes: bytes, at: now)
        if bytes > last.bytes { cameAt = now }
        if now >= cameAt + Self.stall { bytesPerSecond = 0 }
    }

    /// Takes in that at `now` still no more than `bytes` are there.
    mutating func waited(bytes: Int, now: Duration) {
        guard let last, now >= last.at + Self.patience else { return }
        sample(bytes: bytes, now: now)
    }
}
