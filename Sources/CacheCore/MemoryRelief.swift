/// The result of giving memory back to the machine.
public struct MemoryRelief: Hashable, Sendable {
    /// Evicted entries, and the bytes their files had on the disk.
    public var evicted: Removal
    /// Entries whose clean pages were dropped from memory, and their bytes. The files stay.
    public var dropped: Removal
    /// The time from the decision to the last unlink.
    public var duration: Duration
    /// The failure, if some entries could not be evicted.
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
