/// Counts of events since the cache started.
package struct Counters: Sendable {
    /// Requests for images that were cached.
    package var hits = 0
    /// Requests for images that were not cached, or that the origin had to confirm first.
    package var misses = 0
    /// Misses that joined a running or queued download.
    package var joined = 0
    /// Images published.
    package var published = 0
    /// Entries the origin confirmed.
    package var revalidated = 0
    /// Requests answered with a stale entry because the origin failed.
    package var staleAnswers = 0
    /// Downloads that ended with a failure.
    package var failed = 0
    /// Attempts that failed and were followed by a retry.
    package var retried = 0
    /// Requests answered with a remembered failure.
    package var failuresRepeated = 0
    /// Entries removed because the origin no longer has them, or because they must not be stored.
    package var withdrawn = Removal()
    /// Bytes of images received.
    package var bytesReceived: Int64 = 0
    /// Entries removed because a user requested it.
    package var removed = 0
    /// Entries that a verification found damaged.
    package var damaged = 0
    /// Entries evicted.
    package var evicted = Removal()
    /// Entries whose pages were dropped from memory.
    package var dropped = Removal()
    /// Downloads refused because there was no space.
    package var refused = 0
}
