package import CacheDisk
package import CacheKey
package import CacheValues

/// Work for the cache's own threads. It is queued before the lock is released, in the order of the
/// decisions.
package enum Work: Sendable {
    /// Look for the original of a derived image, and ask for it if it is not there.
    case findOriginal(FlightID, CacheKey, DerivedImage)
    /// Derive an image from an entry.
    case derive(FlightID, CacheKey, DerivedImage, from: CacheKey)
    /// Download a URL.
    case startTransfer(FlightID, CacheKey, CacheURL, LocalHints)
    /// Stop a download. Its partial stays for a later one unless `discardsPartial` is set.
    case cancelTransfer(FlightID, CacheKey, discardsPartial: Bool)
    /// Ask the store for an image, within a time for the head of the answer.
    case askStore(FlightID, CacheKey, CacheURL, LocalHints, StoreQuestion)
    /// Stop asking the store. The bytes of the image that have arrived are removed.
    case cancelLookup(FlightID, CacheKey, discardsPartial: Bool)
    /// The thread that writes to the store has something to do, or another time to wake up at.
    case wakeStoreWriter
    /// Remove a partial that no download is writing to.
    case discardPartial(CacheKey)
    /// Make the staged image of this flight durable under its name.
    case publish(FlightID, CacheKey)
    /// Give the image the bytes of an entry that has this digest, if there is one.
    case adopt(FlightID, CacheKey, ContentDigest)
    /// Write the origin's confirmation into the record of the entry.
    case confirm(FlightID, CacheKey)
    /// Write the URLs of an entry into its file, which a daemon that was killed has left without them: the one it was
    /// downloaded from, and the one that names it.
    case complete(CacheKey, CacheURL, CacheURL)
    /// Keep the origin's confirmation of an entry until it is written into the record.
    case keepConfirmation(FlightID, CacheKey)
    /// Remove the file of an entry or a partial.
    case unlink(Victim)
    /// Evict the least recently used entries, down to a goal.
    case evict(EvictionGoal)
    /// A new pause ends earlier than all others, so the maintenance thread has to be woken at its end.
    case planRetry
    /// Downloads have begun to wait for slots, so the maintenance thread has to measure those that run.
    case planMeasurement
}
