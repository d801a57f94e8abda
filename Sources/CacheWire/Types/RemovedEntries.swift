/// The reply of the methods that remove entries: `Evict`, `Pressure` and `Remove`.
public struct RemovedEntries: Codable, Sendable, Hashable {
    /// The number of removed entries.
    public var entries: Int
    /// The bytes that they used.
    public var bytes: Int
    /// Why some entries could not be removed.
    public var failure: Failure?

    public init(entries: Int, bytes: Int, failure: Failure? = nil) {
        self.entries = entries
        self.bytes = bytes
        self.failure = failure
    }
}
