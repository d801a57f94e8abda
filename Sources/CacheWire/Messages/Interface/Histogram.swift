// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// The number of values in each of a few ranges.
public struct Histogram: WireValue {
    /// The upper bounds of the ranges, ascending. A range includes its bound and begins above
    /// the one before it.
    public var bounds: [Double]
    /// The number of values in each range, and at the end the number of values above all
    /// bounds.
    public var counts: [Int]
    /// The sum of all values.
    public var sum: Double

    public init(
        bounds: [Double],
        counts: [Int],
        sum: Double
    ) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("bounds", bounds)
            json.member("counts", counts)
            json.member("sum", sum)
        }
    }
}
