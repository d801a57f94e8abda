public import CacheKey
public import CacheValues

/// The settings of a cache.
public struct CacheSettings: Sendable {
    /// Absolute path of the cache directory. It is created if it is missing.
    public var directory: String
    /// Permission bits of the directory if it has to be created.
    public var directoryMode: UInt32
    public var limits: Limits
    public var transfers: TransferSettings
    /// The largest number of images that are downloaded but not published yet. At this number, no further
    /// download begins, because each can have a file open or 64 KiB in memory. The default is three batches.
    public var publishingLimit = PublishQueue.largestBacklog
    /// The largest number of downloads that continue without a waiter.
    public var detachedLimit = 200_000
    /// The parameters of queries that do not count in the names of images.
    public var ignoredQueries = IgnoredQueries()
    /// Whether an entry stays although its origin answered 404 or 410.
    public var keepsGone = false
    /// Whether downloads start that nobody waits for: prefetches, and revalidations in the background.
    public var permitsPrefetches = true
    /// Whether images with equal bytes are names of one file.
    public var sharesFiles = true
    /// The times at which failed downloads are retried.
    public var retry = RetryPolicy()
    /// The path of the program that derives images from others. `nil` if it is not installed.
    public var deriver: String?
    /// A store that several machines share. `nil` if there is none.
    public var store: StoreSettings?

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
