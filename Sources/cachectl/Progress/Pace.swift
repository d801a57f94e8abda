/// The time that is left of many downloads, from the share of them that has arrived. Pure.
struct Pace: Hashable {
    private var begin: Mark?
    private var last: Mark?

    private struct Mark: Hashable {
        var done: Double
        var at: Duration
    }

    /// The share of a shorter time says nothing.
    private static let least = Duration.seconds(1)

    /// Records how many downloads are done by now, with parts of one. Starts anew with ``reset()``.
    mutating func reached(_ done: Double, now: Duration) {
        let mark = Mark(done: done, at: now)
        begin = begin ?? mark
        last = mark
    }

    mutating func reset() {
        self = Pace()
    }

    /// Estimated seconds until `total` downloads are done; `nil` if unknown.
    func secondsLeft(of total: Int) -> Int? {
        guard let begin, let last, last.at - begin.at >= Self.least, last.done > begin.done
        else { return nil }
        let rate = (last.done - begin.done) / ((last.at - begin.at) / .seconds(1))
        return Int(saturating: (max(0, Double(total) - last.done) / rate).rounded(.up))
    }
}
