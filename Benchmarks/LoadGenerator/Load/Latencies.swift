/// All measured latencies, so that percentiles are exact.
struct Latencies {
    /// Nanoseconds, at most 4.29 s each.
    private var samples: [UInt32] = []

    init(capacity: Int) {
        samples.reserveCapacity(capacity)
    }

    var count: Int { samples.count }

    @inline(__always)
    mutating func record(_ nanoseconds: UInt64) {
        samples.append(UInt32(clamping: nanoseconds))
    }

    func summary() -> Summary {
        let sorted = samples.sorted()
        func microseconds(_ quantile: Double) -> Double {
            guard !sorted.isEmpty else { return 0 }
            return Double(sorted[Int(quantile * Double(sorted.count - 1))]) / 1000
        }
        return Summary(
            median: microseconds(0.5), p99: microseconds(0.99), maximum: microseconds(1))
    }

    /// Latencies in microseconds.
    struct Summary {
        let median: Double
        let p99: Double
        let maximum: Double

        /// The members of a JSON object, without braces.
        var jsonMembers: String {
            "\"p50Microseconds\":\(median),\"p99Microseconds\":\(p99),"
                + "\"maxMicroseconds\":\(maximum)"
        }
    }
}
