import CacheWire

/// Says on standard error why a download waits and when it is tried again, if nothing else shows the progress.
struct RetryReport {
    /// Retries within the first seconds are not worth a line.
    private static let silence = Duration.seconds(2)

    /// The next attempts that wait to be reported, or were reported, by URL.
    private var reported: [String: Int] = [:]
    private var waiting: [String: Item] = [:]

    /// The lines to print after these items changed.
    ///
    /// - Parameters:
    ///   - elapsed: the time since the fetch began.
    ///   - now: the current time as a Unix second.
    mutating func lines(_ items: [Item], elapsed: Duration, now: Int) -> [(
        url: String, text: String
    )] {
        for item in items {
            waiting[item.url] = item.failure?.retryAt == nil || item.phase == nil ? nil : item
        }
        guard elapsed >= Self.silence else { return [] }
        defer { waiting = [:] }
        return waiting.values.sorted { $0.url < $1.url }.compactMap { item in
            guard let failure = item.failure, let time = failure.retryAt, time > now,
                reported.updateValue(time, forKey: item.url) != time
            else { return nil }
            return (item.url, "\(failure.message); the next attempt is in \(time - now) s")
        }
    }
}
