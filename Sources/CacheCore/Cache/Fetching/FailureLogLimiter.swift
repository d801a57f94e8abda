/// Decides which failures are logged: the first few of each host in a minute. Counts the others.
struct FailureLogLimiter {
    typealias Instant = ContinuousClock.Instant

    /// The lines of one host in a period.
    static let burst = 5
    static let period = Duration.seconds(60)
    /// The hosts that are counted apart. All others share one count, so that many names cannot fill the log or the
    /// memory.
    static let largestTable = 200
    static let others = "other hosts"

    private struct Count {
        let end: Instant
        var lines = 0
        var leftOut = 0
    }

    private var hosts: [String: Count] = [:]

    /// Whether a failure of this host is logged.
    mutating func admits(_ host: String, now: Instant) -> Bool {
        let isKnown = hosts[host] != nil || hosts.count < Self.largestTable
        let name = isKnown ? host : Self.others
        var count = hosts[name] ?? Count(end: now + Self.period)
        defer { hosts[name] = count }
        guard count.lines < Self.burst else {
            count.leftOut += 1
            return false
        }
        count.lines += 1
        return true
    }

    /// Ends the periods that are over, or all if no time is given. Returns the hosts with failures that were not
    /// logged, and how many.
    mutating func takeLeftOut(now: Instant?) -> [(host: String, count: Int)] {
        let ended = hosts.filter { entry in now.map { entry.value.end <= $0 } ?? true }
        for host in ended.keys { hosts[host] = nil }
        return ended.filter { $0.value.leftOut > 0 }.map { (host: $0.key, count: $0.value.leftOut) }
            .sorted { $0.host < $1.host }
    }
}
