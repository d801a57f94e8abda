/// The settings of a store that decisions depend on.
public struct StorePolicy: Hashable, Sendable {
    /// Whether the store is asked for images.
    public var reads: Bool
    /// Whether images are put into the store.
    public var writes: Bool
    /// The longest wait for the head of an answer.
    public var timeout: Duration
    /// Seconds. A confirmation is written to the store if it makes the image fresh for at least this long.
    public var renew: Int64
    /// The longest wait of a prefetch after the store turned out to lack its image.
    public var spread: Duration

    public init(
        reads: Bool = true, writes: Bool = true, timeout: Duration = .seconds(1),
        renew: Int64 = 3600, spread: Duration = .seconds(5)
    ) {
        (self.reads, self.writes, self.timeout) = (reads, writes, timeout)
        (self.renew, self.spread) = (renew, spread)
    }
}
