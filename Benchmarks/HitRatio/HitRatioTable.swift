/// The hit ratios of this cache and others, as a table in Markdown.
package struct HitRatioTable {
    /// Caches that hold these shares of the bytes of all objects.
    package static let shares = [0.01, 0.1]
    package static let heading = """
        | trace | cache | cached | LRU | SLRU | SIEVE | S3-FIFO |
        |---|---|---|---|---|---|---|
        """

    private let trace: Trace

    package init(_ trace: Trace) { self.trace = trace }

    package var rows: [String] {
        Self.shares.map { share in
            let capacity = Int64(Double(trace.bytes) * share)
            var index = IndexPolicy(capacity: capacity)
            let own = trace.replay(&index)
            let others = [
                replay(LeastRecentlyUsed(capacity: capacity)),
                replay(SegmentedLRU(capacity: capacity)),
                replay(Sieve(capacity: capacity)), replay(S3FIFO(capacity: capacity)),
            ]
            let ratios = ([own] + others).map(Self.text).joined(separator: " | ")
            return "| \(trace.name) | \(Int(share * 100)) % | \(ratios) |"
        }
    }

    private func replay(_ policy: some CachePolicy) -> HitRatio {
        var policy = policy
        return trace.replay(&policy)
    }

    private static func text(_ ratio: HitRatio) -> String {
        "\(percent(ratio.requests)), \(percent(ratio.bytes))"
    }

    private static func percent(_ share: Double) -> String {
        let thousandths = Int((share * 1000).rounded())
        return "\(thousandths / 10).\(thousandths % 10)"
    }
}
