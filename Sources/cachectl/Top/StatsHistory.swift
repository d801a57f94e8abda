import CacheWire

/// The latest `Stats` and the recent rates of its counters. Pure.
struct StatsHistory: Hashable {
    /// The latest sample.
    private(set) var stats: [String: JSONValue] = [:]
    /// Events or bytes a second; the newest is last.
    private(set) var hits = Samples()
    private(set) var bytesReceived = Samples()
    private(set) var bytesEvicted = Samples()
    /// The sample from which the next rates are computed.
    private var rateBase: Sample?

    private struct Sample: Hashable {
        let stats: [String: JSONValue]
        let at: Duration

        /// The rate since `before`. It is 0 if the counter fell because the daemon was restarted.
        func rate(_ name: String, since before: Sample, _ seconds: Double) -> Double {
            guard case .int(let new)? = stats[name], case .int(let old)? = before.stats[name] else {
                return 0
            }
            return max(0, Double(new) - Double(old)) / seconds
        }
    }

    /// Rates: at first those of the minutes before the start, as the daemon remembers them, then those of each
    /// second.
    struct Samples: Hashable {
        private(set) var values: [Double] = []
        /// The number of minutes.
        private(set) var minutes = 0
        static let limit = 120

        /// The rate of the last second; `nil` if it is not known yet.
        var latest: Double? { values.count > minutes ? values.last : nil }

        mutating func add(_ value: Double) {
            values.append(value)
            if values.count > Self.limit {
                values.removeFirst()
                minutes = max(0, minutes - 1)
            }
        }

        mutating func remember(_ rates: [Double]) {
            guard minutes == 0 else { return }
            let rates = rates.suffix(Self.limit - values.count)
            values = rates + values
            minutes = rates.count
        }
    }

    /// A change in any of these counters means that the list of cached images, or its order, has
    /// changed.
    private static let changeCounters = [
        "entries", "published", "revalidated", "removed", "evicted", "hits", "entriesPinned",
    ]

    /// Adds a sample. Returns whether the list of cached images must be reloaded.
    mutating func sampled(_ new: [String: JSONValue], now: Duration) -> Bool {
        let isFirst = rateBase == nil
        defer { stats = new }
        count(Sample(stats: new, at: now))
        return !isFirst && Self.changeCounters.contains { stats[$0] != new[$0] }
    }

    /// Adds the minutes before the start.
    ///
    /// - Parameter now: the current time as a Unix second.
    mutating func remember(_ samples: HistorySamples, now: Int) {
        func rates(_ name: String) -> [Double] {
            samples.rates(name, until: now, limit: Samples.limit)
        }
        hits.remember(rates("hits"))
        bytesReceived.remember(rates("bytesReceived"))
        bytesEvicted.remember(rates("bytesEvicted"))
    }

    /// Adds to the rates, unless the sample follows the previous one too soon because a key
    /// requested it.
    private mutating func count(_ new: Sample) {
        defer { rateBase = rateBase ?? new }
        guard let before = rateBase, new.at - before.at >= Heartbeat.interval / 2 else { return }
        rateBase = new
        let seconds = (new.at - before.at) / .seconds(1)
        // After a long pause it is unknown when the events happened.
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
