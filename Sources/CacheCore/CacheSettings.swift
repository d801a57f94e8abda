/// What a cache is made with.
public struct CacheSettings: Sendable {
    /// Absolute path of the cache directory; made where it is missing.
    public var directory: String
    /// Permission bits of a directory that has to be made.
    public var directoryMode: UInt32
    public var limits: Limits
    public var transfers: TransferSettings
    /// Images that are downloaded and not entries yet, at most: each may have a file open, or 64 KiB in memory.
    /// With so many, no further download begins. The default is what three batches take.
    public var publishingLimit = 3 * PublishQueue.largestBatch
    /// Downloads that nobody waits for, at most.
    public var detachedLimit = 200_000
    /// When failed downloads are tried again.
    public var retry = RetryPolicy()

    public init(
        directory: String, directoryMode: UInt32 = 0o700, limits: Limits = Limits(),
        transfers: TransferSettings = TransferSettings()
    ) {
        self.directory = directory
        self.directoryMode = directoryMode
        self.limits = limits
        self.transfers = transfers
    }
}
