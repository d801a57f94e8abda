/// Hears from a cache, on any of its threads, never under its lock.
public protocol CacheObserver: AnyObject, Sendable {
    /// All that some callers wanted is decided; called once for each of them.
    func decided(_ outcomes: [Outcome])
    /// Something changed since the changes were last taken; see ``Cache/takeChanges()``.
    func changesArrived()
}
