public import CacheKey

/// What has to be done because of an event. Work for the cache's own threads is queued before the lock is
/// released, in the order it was decided; observers hear after it.
enum Effect: Sendable {
    /// Download a URL into a new partial.
    case startTransfer(FlightID, CacheKey, CacheURL, LocalHints)
    /// Stop a download. Its partial stays for a later one, unless nobody shall have it.
    case cancelTransfer(FlightID, CacheKey, discardsPartial: Bool)
    /// Remove a partial no download is writing to.
    case discardPartial(CacheKey)
    /// Make a staged image durable under its name.
    case publish(StagedImage)
    /// Write into an entry's record that the origin confirmed it.
    case confirm(Revalidation)
    /// Remove an entry's file.
    case unlink(Victim)
    /// Let the least recently used go, down to a goal.
    case evict(EvictionGoal)
    /// A download that waited for room may ask again.
    case resumeTransfer(FlightID)
    /// A pause ends earlier than any other: see when.
    case planRetry
    /// Tell a caller that all it wanted is decided.
    case finish(Outcome)
    /// Tell the observer that something it watches has changed, for the first time since it asked.
    case announceChanges
    /// Read the whole directory again.
    case scan
}

/// What may lie in the directory already when a download begins.
struct LocalHints: Hashable, Sendable {
    /// A partial to continue.
    var partial = true
    /// An entry to ask the origin about.
    var entry = true
}

/// The end of a caller's wish: whatever is not in `failures` was had.
public struct Outcome: Sendable {
    public let waiter: WaiterID
    public let failures: [CacheKey: Failure]
}
