import Glibc

/// The speed of one download, smoothed: what happened τ seconds ago weighs 1/e of what happens now.
struct TransferRate {
    /// The present estimate; `nil` until two samples have come.
    private(set) var bytesPerSecond: Double?
    private var last: (bytes: Int, at: Duration)?

    /// τ. Short enough to see a stall, long enough to read the digits.
    private static let timeConstant = 2.0

    /// Takes in that `bytes` in all were there at `now`. A count that falls is a new attempt.
    mutating func sample(bytes: Int, now: Duration) {
        guard let last, bytes >= last.bytes else {
            self = TransferRate()
            self.last = (bytes, now)
            return
        }
        let elapsed = (now - last.at) / .seconds(1)
        // Two samples at one moment say nothing about speed.
        guard elapsed >= 0.001 else { return }
        let present = Double(bytes - last.bytes) / elapsed
        let weight = 1 - exp(-elapsed / Self.timeConstant)
        bytesPerSecond = bytesPerSecond.map { $0 + (present - $0) * weight } ?? present
        self.last = (bytes, now)
    }
}
