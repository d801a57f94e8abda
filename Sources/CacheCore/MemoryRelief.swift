/// How much of what the cache holds has to go because memory is short.
public struct ReliefMeasure: Hashable, Sendable {
    /// Share of the bytes now held that may stay, 0 to 1.
    public var keptShare: Double
    /// Also halve the downloads allowed and close idle connections to origins.
    public var tightens: Bool

    public init(keptShare: Double, tightens: Bool) {
        self.keptShare = keptShare
        self.tightens = tightens
    }
}

/// What relieving the machine's memory came to.
public struct MemoryRelief: Hashable, Sendable {
    /// Entries whose files went, and the bytes the disk held for them.
    public var evicted: Removal
    /// Entries whose clean pages were dropped from memory, and their bytes; the files stay.
    public var dropped: Removal
    /// From the decision to the last unlink.
    public var duration: Duration
    /// Why entries stayed that were to go.
    public var failure: Failure?

    public init(
        evicted: Removal, dropped: Removal, duration: Duration, failure: Failure? = nil
    ) {
        self.evicted = evicted
        self.dropped = dropped
        self.duration = duration
        self.failure = failure
    }
}
