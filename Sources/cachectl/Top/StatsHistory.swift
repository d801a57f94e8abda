import CacheWire

/// What `Stats` tells, and how its counters moved from sample to sample. Pure.
struct StatsHistory: Hashable {
    /// The last sample.
    private(set) var stats: [String: JSONValue] = [:]
    /// Rates a second, newest last.
    private(set) var hits = Samples()
    private(set) var bytesReceived = Samples()
    private(set) var bytesEvicted = Samples()
    /// The sample that rates are counted from.
    private var rateBase: Sample?

    private struct Sample: Hashable {
        let stats: [String: JSONValue]
        let at: Duration

        /// A daemon that was started anew counts from 0.
        func rate(_ name: String, since before: Sample, _ seconds: Double) -> Double {
            guard case .int(let new)? = stats[name], case .int(let old)? = before.stats[name] else {
                return 0
            }
            return Double(max(0, new - old)) / seconds
        }
    }

    struct Samples: Hashable {
        private(set) var values: [Double] = []
        private static let limit = 120

        mutating func add(_ value: Double) {
            values.append(value)
            if values.count > Self.limit { values.removeFirst() }
        }
    }

    /// With these, what is cached has changed, or its order.
    private static let changeCounters = [
        "entries", "published", "revalidated", "removed", "evicted", "hits", "entriesPinned",
    ]

    /// Takes in a sample; whether the list of what is cached has to be looked at again.
    mutating func sampled(_ new: [String: JSONValue], now: Duration) -> Bool {
        let isFirst = rateBase == nil
        defer { stats = new }
        count(Sample(stats: new, at: now))
        return !isFirst && Self.changeCounters.contains { stats[$0] != new[$0] }
    }

    /// Adds to the rates, unless the sample is one that a key asked for between two.
    private mutating func count(_ new: Sample) {
        defer { rateBase = rateBase ?? new }
        guard let before = rateBase, new.at - before.at >= FrameSchedule.sample / 2 else { return }
        rateBase = new
        let seconds = (new.at - before.at) / .seconds(1)
        // After a pause there is no telling when it happened.
        guard seconds < 3 else { return }
        hits.add(new.rate("hits", since: before, seconds))
        bytesReceived.add(new.rate("bytesReceived", since: before, seconds))
        bytesEvicted.add(new.rate("bytesEvicted", since: before, seconds))
    }

    func int(_ name: String) -> Int? {
        if case .int(let value)? = stats[name] { value } else { nil }
    }

    func string(_ name: String) -> String? {
        if case .string(let value)? = stats[name] { value } else { nil }
    }
}
