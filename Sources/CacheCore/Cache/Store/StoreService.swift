import CacheFetching

/// The store that several machines share: the thread that asks it, and the thread that writes to it. Neither has
/// anything to do with the connections to origins.
final class StoreService: Sendable {
    let settings: StoreSettings
    let access: StoreAccess
    /// A loop of its own: on the handle of the origins, a URL of a client could use the store's connection, whose
    /// address was never checked.
    let lookups: TransferLoop
    let writer: StoreWriter

    init(_ settings: StoreSettings) throws(CacheError) {
        self.settings = settings
        access = StoreAccess(settings)
        lookups = try TransferLoop()
        writer = try StoreWriter(settings, access)
    }

    func start(_ cache: Cache) {
        let transfers = cache.settings.transfers.forStore
        lookups.start(
            transfers, cache.directory, cache.logger, delegate: StoreDelegate(cache: cache),
            store: access)
        writer.start(cache, transfers)
    }

    /// Ends the thread that asks. Open questions stay unanswered.
    func finishLookups() { lookups.finish() }

    /// Gives what still waits some time to be written, and ends the thread that writes.
    func finishWrites() { writer.finish(within: settings.flush) }
}

extension TransferSettings {
    /// The same trust and rules for connections to the store. The endpoint is configured, so its address needs no
    /// permission, and requests to it do not go through a proxy, carry no fields of origins, and follow no redirects.
    var forStore: TransferSettings {
        var settings = self
        settings.transferLimit = StoreLookups.most
        settings.maximumRate = nil
        settings.addressPolicy = .everything
        settings.proxy = nil
        settings.originHeaders = nil
        settings.stallTimeout = Self.storeStallTimeout
        settings.firstByteTimeout = Self.storeWriteTimeout
        settings.redirectLimit = 0
        return settings
    }

    /// Seconds after which an answer slower than 1 KiB/s ends.
    private static let storeStallTimeout = 3
    /// Seconds until the head of the answer to a write.
    private static let storeWriteTimeout = 10
}
