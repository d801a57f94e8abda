import CacheWire

extension HistorySamples {
    private static let minute = 60

    /// The growth of a counter in a second, a value for each minute, the newest last. It is 0 if the counter fell because
    /// the daemon was restarted.
    ///
    /// - Parameters:
    ///   - now: the current time as a Unix second.
    ///   - limit: the most values.
    func rates(_ name: String, until now: Int, limit: Int) -> [Double] {
        guard let values = figures[name], values.count == at.count, let last = at.last else {
            return []
        }
        // Figures that do not change are not repeated.
        let rest = max(0, now.saturatingSubtracting(last)) / Self.minute
        var rates = Array(repeating: 0.0, count: min(limit, rest))
        for (before, after) in zip(at.indices, at.indices.dropFirst()).reversed() {
            guard rates.count < limit else { break }
            let seconds = max(1, at[after].saturatingSubtracting(at[before]))
            let growth = max(0, Double(values[after]) - Double(values[before])) / Double(seconds)
            let count = min(limit - rates.count, max(1, seconds / Self.minute))
            rates += repeatElement(growth, count: count)
        }
        return rates.reversed()
    }
}
