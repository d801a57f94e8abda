public import CacheFetching

/// Receives the notifications of a cache, on any of its threads, but never under its lock.
public protocol CacheObserver: AnyObject, Sendable {
    /// Requests have ended: each of their images is cached or has failed. Each request is reported once.
    func decided(_ outcomes: [Outcome])
    /// At least one key changed its state since the last call of ``Cache/takeChanges()``.
    func changesArrived()
    /// At least one download ended since the last call of ``Cache/takeChanges()`` or ``Cache/takeEnds()``.
    func endsArrived()
    /// The directory is gone, or another one has its path that could not be taken over. The cache tries again, and works
    /// as soon as it can.
    func directoryGone()
}

extension CacheObserver {
    public func endsArrived() {}
    public func directoryGone() {}
}
