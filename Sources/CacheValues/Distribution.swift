/// The number of values in each of a few ranges: a histogram with fixed bounds.
///
///     var times = Distribution.times
///     times.add(.milliseconds(20))
///     times.counts  // one in the range that ends at 0.03 s
package struct Distribution: Sendable, Hashable {
    /// The upper bounds of the ranges, ascending. A range includes its bound.
    package let bounds: [Double]
    /// The number of values in each range, and at the end the number of values above all bounds.
    package private(set) var counts: [Int]
    /// The sum of all values.
    package private(set) var sum = 0.0

    private init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// For times in seconds: two ranges for each power of ten, from a fast disk to a slow server.
    package static let times = Distribution(
        bounds: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100])
    /// For sizes in bytes: 1 KiB to 64 MiB, each range four times the one before.
    package static let sizes = Distribution(bounds: (0...8).map { Double(1024 << ($0 * 2)) })

    package mutating func add(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    /// Adds a time in seconds.
    package mutating func add(_ time: Duration) { add(time / .seconds(1)) }
}
