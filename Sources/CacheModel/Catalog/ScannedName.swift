package import CacheKey

/// A name that a scan of the directory probed.
package enum ScannedName: Sendable {
    case entry(CacheKey, EntryProbe)
    /// Bytes the disk holds for a partial; `nil` if there is none.
    case partial(CacheKey, Int64?)
    /// It could not be probed, and has to be again.
    case unreadable(DirectoryName)
}
