/// How fast bytes of images may arrive, all downloads together. Belongs to the transfer loop's thread.
///
/// A bucket that fills at the rate, up to a tenth of a second's worth. A piece is taken whenever there
/// is anything in it, and may leave it in debt; so that over time the rate is kept exactly, whatever
/// the size of pieces. Who finds it empty is paused, and goes on when it is his turn: the most urgent
/// first, clients in turn.
final class RateLimiter {
    typealias FlowKey = TransferQueue.FlowKey

    /// Bytes a second; `nil` for as fast as it goes.
    let rate: Int64?
    /// Bytes that may arrive now; below zero, what was taken in advance.
    private var available: Double
    private var filledAt: ContinuousClock.Instant
    /// Those who are paused, and by what they have their turn.
    private var waiting: [FlightID: FlowKey] = [:]
    private var turns = [RoundRobin<FlightID>](
        repeating: RoundRobin(), count: Priority.allCases.count)
    /// Who was let go on, and has not taken its piece yet.
    private var called: FlightID?

    init(rate: Int64?, now: ContinuousClock.Instant) {
        self.rate = rate
        available = Double(rate ?? 0) / 10
        filledAt = now
    }

    /// Whether a piece of a body may be taken now; if not, its download waits for its turn.
    func admits(
        _ count: Int, of id: FlightID, in lane: @autoclosure () -> FlowKey?,
        now: @autoclosure () -> ContinuousClock.Instant
    ) -> Bool {
        guard rate != nil else { return true }
        fill(now())
        // What is for nobody is about to be stopped.
        guard let lane = lane() else { return false }
        guard available > 0, called == id || !isAnyWaiting(atLeast: lane.priority) else {
            wait(id, lane)
            return false
        }
        if called == id { called = nil }
        available -= Double(count)
        return true
    }

    /// The next who may go on, if one may; how urgent those who wait are may have changed.
    func next(
        lane: (FlightID) -> FlowKey?, now: @autoclosure () -> ContinuousClock.Instant
    ) -> FlightID? {
        guard !waiting.isEmpty else { return nil }
        fill(now())
        guard available > 0 else { return nil }
        for (id, old) in waiting {
            if let lane = lane(id), lane != old { wait(id, lane) }
        }
        for priority in Priority.allCases.reversed() {
            guard let (client, id) = turns[priority.index].first else { continue }
            turns[priority.index].hadTurn(client)
            forget(id)
            called = id
            return id
        }
        return nil
    }

    /// A download is over.
    func forget(_ id: FlightID) {
        if called == id { called = nil }
        guard let lane = waiting.removeValue(forKey: id) else { return }
        _ = turns[lane.priority.index].remove(lane.client, id)
    }

    /// How long until somebody may go on; `nil` if nobody waits.
    func delay(now: @autoclosure () -> ContinuousClock.Instant) -> Duration? {
        guard let rate, !waiting.isEmpty else { return nil }
        let missing = 1 - available - Double(rate) * ((now() - filledAt) / .seconds(1))
        return max(.zero, .seconds(missing / Double(rate)))
    }

    private func wait(_ id: FlightID, _ lane: FlowKey) {
        forget(id)
        waiting[id] = lane
        turns[lane.priority.index].append(lane.client, id)
    }

    private func isAnyWaiting(atLeast priority: Priority) -> Bool {
        !turns[priority.index...].allSatisfy(\.isEmpty)
    }

    private func fill(_ now: ContinuousClock.Instant) {
        let rate = Double(rate ?? 0)
        available = min(rate / 10, available + rate * ((now - filledAt) / .seconds(1)))
        filledAt = now
    }
}
