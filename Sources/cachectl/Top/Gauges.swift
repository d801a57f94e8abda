import CacheWire

/// What `Stats` tells, and how its counters moved from sample to sample. Pure.
struct Gauges: Hashable {
    /// The last sample.
    private(set) var stats: [String: JSONValue] = [:]
    /// Rates a second, newest last.
    private(set) var hits = Samples()
    private(set) var bytesReceived = Samples()
    private(set) var bytesEvicted = Samples()
    private var sampledAt: Duration?

    struct Samples: Hashable {
        private(set) var values: [Double] = []
        private static let limit = 120

        mutating func add(_ value: Double) {
            values.append(value)
            if values.count > Self.limit { values.removeFirst() }
        }
    }

    /// With these, what is cached has changed, or its order.
    private static let turnover = [
        "entries", "published", "revalidated", "removed", "evicted", "hits", "entriesPinned",
    ]

    /// Takes in a sample; whether the list of what is cached has to be looked at again.
    mutating func sampled(_ new: [String: JSONValue], now: Duration) -> Bool {
        defer {
            stats = new
            sampledAt = now
        }
        guard let sampledAt, now > sampledAt else { return false }
        let seconds = (now - sampledAt) / .seconds(1)
        // After a pause there is no telling when it happened.
        if seconds < 3 {
            hits.add(rate("hits", new, seconds))
            bytesReceived.add(rate("bytesReceived", new, seconds))
            bytesEvicted.add(rate("bytesEvicted", new, seconds))
        }
        return Self.turnover.contains { stats[$0] != new[$0] }
    }

    func int(_ name: String) -> Int? {
        if case .int(let value)? = stats[name] { value } else { nil }
    }

    func string(_ name: String) -> String? {
        if case .string(let value)? = stats[name] { value } else { nil }
    }

    /// A daemon that was started anew counts from 0.
    private func rate(_ name: String, _ new: [String: JSONValue], _ seconds: Double) -> Double {
        guard case .int(let value)? = new[name], let before = int(name) else { return 0 }
        return Double(max(0, value - before)) / seconds
    }
}
