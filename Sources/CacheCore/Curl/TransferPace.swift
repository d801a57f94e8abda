/// How fast bytes of images may arrive, all downloads together. Belongs to the transfer loop's thread.
///
/// A bucket that fills at the rate, up to a tenth of a second's worth. A piece is taken whenever there
/// is anything in it, and may leave it in debt; so that over time the rate is kept exactly, whatever
/// the size of pieces. Who finds it empty is paused, and goes on when it is his turn.
final class TransferPace {
    /// Bytes a second; `nil` for as fast as it goes.
    let rate: Int64?
    /// Bytes that may arrive now; below zero, what was taken in advance.
    private var available: Double
    private var filledAt: ContinuousClock.Instant
    private var waiting = Line<FlightID>()

    init(rate: Int64?, now: ContinuousClock.Instant) {
        self.rate = rate
        available = Double(rate ?? 0) / 10
        filledAt = now
    }

    /// Whether a piece of a body may be taken now; if not, its download waits for its turn.
    func admits(
        _ count: Int, of id: FlightID, now: @autoclosure () -> ContinuousClock.Instant
    ) -> Bool {
        guard rate != nil else { return true }
        fill(now())
        guard available > 0 else {
            waiting.append(id)
            return false
        }
        available -= Double(count)
        return true
    }

    /// The next who may go on, if one may.
    func next(now: @autoclosure () -> ContinuousClock.Instant) -> FlightID? {
        guard let id = waiting.first else { return nil }
        fill(now())
        guard available > 0 else { return nil }
        waiting.remove(id)
        return id
    }

    /// A download is over.
    func forget(_ id: FlightID) {
        waiting.remove(id)
    }

    /// How long until somebody may go on; `nil` if nobody waits.
    func delay(now: @autoclosure () -> ContinuousClock.Instant) -> Duration? {
        guard let rate, !waiting.isEmpty else { return nil }
        let missing = 1 - available - Double(rate) * ((now() - filledAt) / .seconds(1))
        return max(.zero, .seconds(missing / Double(rate)))
    }

    private func fill(_ now: ContinuousClock.Instant) {
        let rate = Double(rate ?? 0)
        available = min(rate / 10, available + rate * ((now - filledAt) / .seconds(1)))
        filledAt = now
    }
}
