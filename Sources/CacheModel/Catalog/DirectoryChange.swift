package import CacheKey

/// A change of the directory, as the watch reports it.
package enum DirectoryChange: Hashable, Sendable {
    /// The file under the name may be another one than the catalog knows.
    case appeared(CacheKey)
    /// The same for a name that did not exist before: of a new file, or one more name of an old one.
    case created(CacheKey)
    /// The name is gone.
    case vanished(CacheKey)
    /// A process opened the file. It may be this one: inotify carries no pid.
    case opened(CacheKey)
    /// Something happened to a partial.
    case partialChanged(CacheKey)
    /// The name of a partial is gone.
    case partialVanished(CacheKey)
    /// Events were lost, or the directory itself is gone: nothing in the catalog is certain.
    case overflowed
}
