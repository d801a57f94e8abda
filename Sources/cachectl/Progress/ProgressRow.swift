/// One download as the display knows it.
struct ProgressRow {
    /// What has happened to it so far, as far as the display cares.
    enum Stage: Hashable {
        /// Not heard of yet, finished, or failed: there is nothing to draw.
        case idle
        /// Waits for its turn.
        case queued
        /// At work, but no bytes come: `connecting`, `retrying` or `publishing`.
        case busy(String)
        /// The bytes come.
        case receiving
    }

    let url: String
    var stage = Stage.idle
    /// Bytes so far.
    var received = 0
    /// Bytes expected, `nil` while unknown.
    var total: Int?
    var rate = TransferRate()

    /// Received of total from 0 to 1, `nil` while the total is unknown.
    var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, Double(received) / Double(total))
    }

    /// Seconds until all bytes are here at the present rate, `nil` while nobody knows.
    var secondsLeft: Int? {
        guard let total, let rate = rate.bytesPerSecond, rate >= 1 else { return nil }
        return Int((Double(max(0, total - received)) / rate).rounded(.up))
    }
}
