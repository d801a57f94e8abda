package import CacheKey
package import CacheValues

/// The state of the store that several machines share: whether it can be used, the open questions,
/// and the images that wait to be written to it.
package struct StoreState: Sendable {
    package var policy: StorePolicy
    /// The rules that shorten the names of images.
    package var naming: IgnoredQueries
    package var reads = StoreBreaker()
    package var writes = StoreBreaker()
    package var lookups = StoreLookups()
    package var latency = StoreLatency()
    package var concurrency = StoreConcurrency()
    package var queue = StoreQueue()
    /// The keys of the writes under way. One key is written by one request at a time.
    package var writing: Set<CacheKey> = []
    /// Writes that failed and are tried again.
    package var delayed: [(due: ContinuousClock.Instant, task: StoreTask)] = []
    /// Keys whose images were not for others the last time.
    package var unshareable = Recent<CacheKey>(capacity: 16_384)
    /// Origins that are others on other networks.
    package var localOrigins = Recent<Origin>(capacity: 1024)
    package var counters = StoreCounters()
    /// Whether any request has succeeded.
    package var hasSucceeded = false
    /// Whether the store does not say that an object is missing, and this was noticed.
    package var hidesMissing = false
    /// The last failure, in the store's words if it had any, and its time.
    package var lastError: String?
    package var lastErrorAt: UnixTime?

    package init(_ policy: StorePolicy, _ naming: IgnoredQueries) {
        (self.policy, self.naming) = (policy, naming)
    }

    /// Whether a new download of a key asks the store first.
    package func answers(for key: CacheKey) -> Bool {
        policy.reads && reads.admits && !unshareable.contains(key)
    }

    /// When something is due although nothing happens. `nil` if nothing is.
    package var nextEvent: ContinuousClock.Instant? {
        [reads.end, writes.end, delayed.lazy.map(\.due).min()].compactMap(\.self).min()
    }

    package mutating func note(_ error: String, at time: UnixTime) {
        (lastError, lastErrorAt) = (error, time)
    }
}
