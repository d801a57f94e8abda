/// How long tasks have waited for memory since the machine or the control group was started.
struct StallTotals: Sendable, Hashable {
    /// How long at least one task waited.
    var some: Duration
    /// How long all tasks waited that had work to do.
    var full: Duration

    init(some: Duration, full: Duration) {
        self.some = some
        self.full = full
    }

    /// Reads the text of a `memory.pressure` file; `nil` if the text has another format.
    ///
    ///     some avg10=0.00 avg60=0.00 avg300=0.00 total=0
    ///     full avg10=0.00 avg60=0.00 avg300=0.00 total=0
    init?(_ text: String) {
        var totals: [Substring: Duration] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let kind = words.first,
                let total = words.first(where: { $0.hasPrefix("total=") }),
                let microseconds = Int64(total.dropFirst("total=".count))
            else { return nil }
            totals[kind] = .microseconds(microseconds)
        }
        guard let some = totals["some"], let full = totals["full"] else { return nil }
        self.init(some: some, full: full)
    }

    subscript(kind: PressureTrigger.Kind) -> Duration {
        switch kind {
        case .some: some
        case .full: full
        }
    }
}
