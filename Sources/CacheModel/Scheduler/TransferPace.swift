/// Measures whether running downloads earn their slots while others wait for a slot.
///
/// A download is slow if it receives less than ``leastRate`` for the time ``window``. It has had its
/// time after ``longestTime``. Time during which nobody waits does not count.
struct TransferPace: Sendable {
    private struct Mark: Sendable {
        /// When others began to wait, or the download began.
        let since: ContinuousClock.Instant
        /// The beginning of the window that is measured.
        var windowBegan: ContinuousClock.Instant
        /// Bytes received until then.
        var received: Int64
        var isSlow = false
        var hadItsTime = false
    }

    /// Bytes a second.
    static let leastRate: Int64 = 16 << 10
    static let window = Duration.seconds(4)
    static let longestTime = Duration.seconds(60)

    private var marks: [FlightID: Mark] = [:]

    /// Whether a download received too little while others waited.
    func isSlow(_ id: FlightID) -> Bool { marks[id]?.isSlow == true }

    /// Whether others have waited for a slot for as long as a download may then keep it.
    func hadItsTime(_ id: FlightID) -> Bool { marks[id]?.hadItsTime == true }

    /// Nobody waits any more.
    mutating func reset() { marks.removeAll() }

    /// A download has ended.
    mutating func forget(_ id: FlightID) { marks[id] = nil }

    /// Others wait, and the download has received this many bytes until now.
    mutating func measure(_ id: FlightID, received: Int64, now: ContinuousClock.Instant) {
        marks.update(id, default: Mark(since: now, windowBegan: now, received: received)) { mark in
            mark.hadItsTime = now - mark.since >= Self.longestTime
            let time = now - mark.windowBegan
            guard time >= Self.window else { return }
            let least = Double(Self.leastRate) * (time / .seconds(1))
            mark.isSlow = Double(received - mark.received) < least
            (mark.windowBegan, mark.received) = (now, received)
        }
    }
}
