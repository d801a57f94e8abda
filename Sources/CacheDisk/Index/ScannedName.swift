package import CacheKey
package import CacheValues

/// A name that a scan of the directory probed.
package enum ScannedName: Sendable {
    case entry(CacheKey, EntryProbe)
    /// Bytes that the disk holds for a partial. `nil` if there is no partial.
    case partial(CacheKey, Int64?)
    /// The name could not be probed, and has to be probed again.
    case unreadable(DirectoryName)
}
