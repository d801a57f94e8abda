/// The settings of a store that decisions depend on.
public struct StorePolicy: Hashable, Sendable {
    /// Whether the store is asked for images.
    public var reads: Bool
    /// Whether images are put into the store.
    public var writes: Bool
    /// The longest wait for an answer, beside the time that its bytes need.
    public var timeout: Duration
    /// Seconds. A confirmation is written to the store if it makes the image fresh for at least this long.
    public var renew: Int64

    public init(
        reads: Bool = true, writes: Bool = true, timeout: Duration = .seconds(1),
        renew: Int64 = 3600
    ) {
        (self.reads, self.writes, self.timeout) = (reads, writes, timeout)
        self.renew = renew
    }
}
