package import CacheKey

/// A change of the directory that the watch reports.
package enum DirectoryChange: Hashable, Sendable {
    /// The name may belong to a file that the index does not have.
    case appeared(CacheKey)
    /// The name is new. It belongs to a new file, or is a further name of an existing file.
    case created(CacheKey)
    /// The name no longer exists.
    case vanished(CacheKey)
    /// A process opened the file. It can be this process, because an inotify event carries no process ID.
    case opened(CacheKey)
    /// A partial changed.
    case partialChanged(CacheKey)
    /// The name of a partial no longer exists.
    case partialVanished(CacheKey)
    /// Events were lost, or the directory itself is gone, so nothing in the index is certain.
    case overflowed
}
