/// Counts of the store's events since the start.
package struct StoreCounters: Hashable, Sendable {
    /// Questions asked.
    package var lookups = 0
    /// Images that came from the store, and entries that it confirmed.
    package var hits = 0
    /// Objects that were stale.
    package var stale = 0
    package var misses = 0
    /// Images that were missing and that this machine claimed.
    package var claims = 0
    /// Answers that another machine has claimed the image.
    package var awaited = 0
    /// Answers that came too late or not at all, and failures of the store.
    package var late = 0
    package var refused = 0
    /// Objects that were wrong.
    package var bad = 0
    /// Bytes of images that came from the store.
    package var bytesFrom: Int64 = 0
    package var uploads = 0
    package var bytesTo: Int64 = 0
    /// Uploads of images that were there already.
    package var uploadsThere = 0
    /// Writes that were given up.
    package var dropped = 0
    /// Objects whose freshness was written again.
    package var renewed = 0
    package var deleted = 0
}
