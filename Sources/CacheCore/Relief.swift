/// What to do about memory running short.
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

/// What that gave back.
public struct Relief: Hashable, Sendable {
    /// Entries evicted.
    public var evicted: Removal
    /// Entries whose clean pages were dropped from memory, and the bytes of their images; the files stay.
    public var dropped: Removal
    public var duration: Duration

    public init(
        evicted: Removal = .nothing, dropped: Removal = .nothing, duration: Duration = .zero
    ) {
        self.evicted = evicted
        self.dropped = dropped
        self.duration = duration
    }
}
