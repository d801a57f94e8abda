import CacheFetching

/// Limits how fast bytes of images arrive, all downloads together. Belongs to the transfer loop's thread.
///
/// The limiter is a bucket that fills at the rate, up to a tenth of a second's worth. A piece is taken if the
/// bucket holds anything, and can leave it in debt; so the rate is kept over time, whatever the size of the pieces.
/// A download that finds the bucket empty is paused, and continues when it has its turn.
///
/// A download slower than ``CurlEasy/stallRate`` is not paused, though its bytes count. libcurl measures slowness
/// only from the last pause on, so an origin that trickles bytes would otherwise never time out.
final class RateLimiter {
    /// Bytes a second; `nil` for no limit.
    var rate: Int64?
    /// Bytes that may arrive now. A negative number is debt.
    private var available: Double
    private var filledAt: ContinuousClock.Instant
    /// The paused downloads, and the flow in which each has its turn.
    private var waiting: [FlightID: FlowKey] = [:]
    private var queue = FairQueue<FlightID>()
    /// The download that was notified to continue and has not taken its piece yet.
    private var called: FlightID?
    /// When each download took its first piece since it was last paused, and its bytes since then.
    private var unpaused: [FlightID: (since: ContinuousClock.Instant, bytes: Int)] = [:]

    init(rate: Int64?, now: ContinuousClock.Instant) {
        self.rate = rate
        available = Double(rate ?? 0) / 10
        filledAt = now
    }

    /// Whether a piece of a body may be taken now. If not, its download is paused and waits for its turn.
    func admits(
        _ count: Int, of id: FlightID, in flow: @autoclosure () -> FlowKey?,
        now: @autoclosure () -> ContinuousClock.Instant
    ) -> Bool {
        guard rate != nil else { return true }
        let now = now()
        fill(now)
        // A download without a flow is about to be cancelled.
        guard let flow = flow() else { return false }
        let waitsForOthers =
            flow.priority == .background ? !queue.isEmpty : !queue.hasOnlyPrefetches
        let hasTurn = called == id || !waitsForOthers
        guard available > 0 && hasTurn || isSlow(id, count, now) else {
            wait(id, flow)
            return false
        }
        if called == id { called = nil }
        available -= Double(count)
        let (since, bytes) = unpaused[id] ?? (now, 0)
        unpaused[id] = (since, bytes + count)
        return true
    }

    /// Whether a download would be slower than libcurl permits even with `count` bytes more.
    private func isSlow(_ id: FlightID, _ count: Int, _ now: ContinuousClock.Instant) -> Bool {
        guard let (since, bytes) = unpaused[id] else { return false }
        return Double(bytes + count) < Double(CurlEasy.stallRate) * ((now - since) / .seconds(1))
    }

    /// The next download that may continue, if one may. The `flow` of a waiting download can have changed.
    func next(
        flow: (FlightID) -> FlowKey?, now: @autoclosure () -> ContinuousClock.Instant
    ) -> FlightID? {
        guard !waiting.isEmpty else { return nil }
        fill(now())
        guard rate == nil || available > 0 else { return nil }
        for (id, old) in waiting {
            if let flow = flow(id), flow != old { wait(id, flow) }
        }
        guard let turn = queue.first() else { return nil }
        queue.hadTurn(turn)
        forget(turn.member)
        called = turn.member
        return turn.member
    }

    /// A download is over.
    func forget(_ id: FlightID) {
        if called == id { called = nil }
        unpaused[id] = nil
        guard let flow = waiting.removeValue(forKey: id) else { return }
        queue.remove(.init(id, flow.client, flow.priority))
    }

    /// How long until a download may continue; `nil` if none waits.
    func delay(now: @autoclosure () -> ContinuousClock.Instant) -> Duration? {
        guard let rate, !waiting.isEmpty else { return nil }
        let missing = 1 - available - Double(rate) * ((now() - filledAt) / .seconds(1))
        return max(.zero, .seconds(missing / Double(rate)))
    }

    private func wait(_ id: FlightID, _ flow: FlowKey) {
        forget(id)
        waiting[id] = flow
        queue.append(.init(id, flow.client, flow.priority))
    }

    private func fill(_ now: ContinuousClock.Instant) {
        let rate = Double(rate ?? 0)
        available = min(rate / 10, available + rate * ((now - filledAt) / .seconds(1)))
        filledAt = now
    }
}
