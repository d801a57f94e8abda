/// News for callers and observers. It is delivered after the lock is released.
package enum Notice: Sendable {
    /// All images that a caller requested are settled.
    case finish(Outcome)
    /// A key changed, for the first time since the observer last took the changes.
    case changesArrived
    /// A download ended, for the first time since the observer last took the ends.
    case endsArrived
    /// The whole directory has to be read again.
    case scanNeeded
    /// The store can be used again, or cannot be used.
    case store(StoreNews)
}
