/// Measures which running downloads are slow while others wait for a slot.
///
/// A download is slow if it received less than ``leastRate`` in the last ``window``, or has had its slot for
/// ``longestTime``. Time during which nobody waits does not count.
///
/// A client whose slow download gave way is patient for a while: it takes no slot from others, and its next download has
/// twice as long before it can be slow. So slots do not change hands without end if all servers are slow, and each
/// download is long enough under way at last.
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
    /// For how long a client is patient whose download gave way.
    static let patience = Duration.seconds(60)
    /// The most times that the time of a patient client's download is doubled.
    private static let mostDoublings = 6

    private var marks: [FlightID: Mark] = [:]
    private struct Patience: Sendable {
        /// When a download gave way last.
        var since: ContinuousClock.Instant
        var times = 0
    }

    private var patient: [ClientID: Patience] = [:]
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

    mutating func gaveWay(_ client: ClientID) {
        guard let measured else { return }
        patient.update(client, default: Patience(since: measured)) {
            ($0.since, $0.times) = (measured, min($0.times + 1, Self.mostDoublings))
        }
    }

    /// The time of a measurement. ``measure(_:of:received:now:)`` of every running download follows.
    mutating func measures(now: ContinuousClock.Instant) {
        (measured, isAnySlow) = (now, false)
        if !patient.isEmpty { patient = patient.filter { now - $0.value.since < Self.patience } }
    }

    mutating func measure(
        _ id: FlightID, of client: ClientID, received: Int64, now: ContinuousClock.Instant
    ) {
        let least = Self.window * (1 << (patient.isEmpty ? 0 : patient[client]?.times ?? 0))
        marks.update(id, default: Mark(since: now, windowBegan: now, received: received)) { mark in
            let time = now - mark.windowBegan
            if time >= Self.window {
                let isFast =
                    Double(received - mark.received)
                    >= Double(Self.leastRate) * (time / .seconds(1))
                let age = now - mark.since
                mark.isSlow = !isFast && age >= least || age >= Self.longestTime
                (mark.windowBegan, mark.received) = (now, received)
            }
            if mark.isSlow { isAnySlow = true }
        }
    }
}
