/// The measure to take when memory is short.
public struct ReliefMeasure: Hashable, Sendable {
    /// Share of the cached bytes that is kept, 0 to 1. The rest is evicted.
    public var keptShare: Double
    /// Whether to also halve the number of concurrent downloads and close idle connections to origins.
    public var tightens: Bool

    public init(keptShare: Double, tightens: Bool) {
        self.keptShare = keptShare
        self.tightens = tightens
    }
}
