/// Measures which running downloads are slow while others wait for a slot.
///
/// A download is slow if it received less than ``leastRate`` in the last ``window``, or has had its slot for
/// ``longestTime``. Time during which nobody waits does not count.
struct TransferPace: Sendable {
    private struct Mark: Sendable {
        /// When others began to wait, or the download began.
        let since: ContinuousClock.Instant
        /// The beginning of the window that is measured.
        var windowBegan: ContinuousClock.Instant
        /// Bytes received until then.
        var received: Int64
        var isSlow = false
    }

    /// Bytes a second.
    static let leastRate: Int64 = 16 << 10
    static let window = Duration.milliseconds(500)
    static let longestTime = Duration.seconds(30)
    /// The time between two measurements.
    static let interval = Duration.milliseconds(250)
    /// For how long a client whose download gave way takes no slot from others.
    static let patience = Duration.seconds(10)

    private var marks: [FlightID: Mark] = [:]
    /// The clients whose downloads gave way, and when.
    private var patient: [ClientID: ContinuousClock.Instant] = [:]
    private var measured: ContinuousClock.Instant?
    private var isPlanned = false

    /// When the downloads have to be measured again.
    func next(now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        measured.map { $0 + Self.interval } ?? now
    }

    /// Whether any download is slow.
    private(set) var isAnySlow = false

    func isSlow(_ id: FlightID) -> Bool { marks[id]?.isSlow == true }

    /// Whether a download of this client gave way lately.
    func isPatient(_ client: ClientID) -> Bool { !patient.isEmpty && patient[client] != nil }

    /// Others have begun to wait. Returns whether nobody waited before.
    mutating func plan() -> Bool {
        defer { isPlanned = true }
        return !isPlanned
    }

    /// Nobody waits any more.
    mutating func reset() {
        if isPlanned { self = TransferPace() }
    }

    /// A download has ended.
    mutating func forget(_ id: FlightID) {
        if !marks.isEmpty { marks[id] = nil }
    }

    mutating func gaveWay(_ client: ClientID) { patient[client] = measured }

    /// The time of a measurement. ``measure(_:received:now:)`` of every running download follows.
    mutating func measures(now: ContinuousClock.Instant) {
        (measured, isAnySlow) = (now, false)
        if !patient.isEmpty { patient = patient.filter { now - $0.value < Self.patience } }
    }

    mutating func measure(_ id: FlightID, received: Int64, now: ContinuousClock.Instant) {
        marks.update(id, default: Mark(since: now, windowBegan: now, received: received)) { mark in
            let time = now - mark.windowBegan
            if time >= Self.window {
                let least = Double(Self.leastRate) * (time / .seconds(1))
                mark.isSlow =
                    Double(received - mark.received) < least || now - mark.since >= Self.longestTime
                (mark.windowBegan, mark.received) = (now, received)
            }
            if mark.isSlow { isAnySlow = true }
        }
    }
}
