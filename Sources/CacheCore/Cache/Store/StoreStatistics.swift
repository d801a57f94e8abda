import CacheFetching
public import CacheValues

/// Gauges and counters about the store that several machines share.
public struct StoreStatistics: Sendable {
    private let counters: StoreCounters
    /// Why the store is not asked now. `nil` while it is.
    private let reads: StoreBreaker.Reason?
    private let writes: StoreBreaker.Reason?
    public let lastError: String?
    public let lastErrorAt: UnixTime?
    /// Writes that wait.
    public let queued: Int

    init(_ state: StoreState) {
        counters = state.counters
        (reads, writes) = (state.reads.reason, state.writes.reason)
        (lastError, lastErrorAt) = (state.lastError, state.lastErrorAt)
        queued = state.queue.count + state.delayed.count + state.writing.count
    }

    /// `ok`, `late` or `refused`.
    public var state: String { Self.word(reads) }
    /// The same for writes.
    public var writeState: String { Self.word(writes) }

    private static func word(_ reason: StoreBreaker.Reason?) -> String {
        switch reason {
        case nil: "ok"
        case .late: "late"
        case .refused: "refused"
        }
    }

    /// The counters, by their names in the protocol.
    public var counts: [String: Int] {
        [
            "storeLookups": counters.lookups, "storeHits": counters.hits,
            "storeStale": counters.stale, "storeMisses": counters.misses,
            "storeClaims": counters.claims, "storeAwaited": counters.awaited,
            "storeLate": counters.late, "storeRefused": counters.refused,
            "storeBad": counters.bad, "bytesFromStore": Int(counters.bytesFrom),
            "storeUploads": counters.uploads, "bytesToStore": Int(counters.bytesTo),
            "storeUploadsThere": counters.uploadsThere, "storeDropped": counters.dropped,
            "storeRenewed": counters.renewed, "storeDeleted": counters.deleted,
            "storeQueued": queued,
        ]
    }
}
