/// News for callers and observers. It is delivered after the lock is released.
package enum Notice: Sendable {
    /// Everything that a caller asked for is settled.
    case finish(Outcome)
    /// Something changed, for the first time since the observer took the changes.
    case changesArrived
    /// The whole directory has to be read again.
    case scanNeeded
}
