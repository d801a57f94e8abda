public import CacheValues

/// The pages that were dropped from memory, and the disk bytes that were held when that began.
public struct PageDrop: Hashable, Sendable {
    /// Entries whose clean pages were dropped, and their bytes. The files stay.
    public var dropped: Removal
    /// Bytes that the disk held for entries.
    public var entryBytes: Int64
    /// Bytes that the disk held for partials.
    public var partialBytes: Int64
    /// The failure if the cache directory is not in place.
    public var failure: Failure?

    public init(
        dropped: Removal = .nothing, entryBytes: Int64 = 0, partialBytes: Int64 = 0,
        failure: Failure? = nil
    ) {
        self.dropped = dropped
        self.entryBytes = entryBytes
        self.partialBytes = partialBytes
        self.failure = failure
    }
}
