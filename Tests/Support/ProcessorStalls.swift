/// The times in which processors were stalled, computed from when each was last seen.
struct ProcessorStalls {
    typealias Instant = ContinuousClock.Instant

    /// A processor that is not seen for longer than this is stalled.
    static let grace = Duration.milliseconds(10)

    /// Ordered by their ends.
    private var past: [Range<Instant>] = []
    private var lastSeen: [Instant]

    init(processors: Int, now: Instant) {
        lastSeen = Array(repeating: now, count: processors)
    }

    mutating func markSeen(_ processor: Int, now: Instant) {
        if let stall = stall(of: processor, now: now) { past.append(stall) }
        lastSeen[processor] = now
    }

    /// How much of an interval at least one processor was stalled.
    func time(from start: Instant, until end: Instant, now: Instant) -> Duration {
        let present = lastSeen.indices.compactMap { stall(of: $0, now: now) }
        var time = Duration.zero
        // Everything from here to the latest end is counted already.
        var counted = end
        for stall in (past + present).reversed() {
            guard stall.upperBound > start else { break }
            let first = max(stall.lowerBound, start)
            time += max(min(stall.upperBound, counted) - first, .zero)
            counted = min(counted, first)
        }
        return time
    }

    /// The stall that has not ended yet.
    private func stall(of processor: Int, now: Instant) -> Range<Instant>? {
        let start = lastSeen[processor] + Self.grace
        return start < now ? start..<now : nil
    }
}
