/// A change in how the store can be used, for the log.
package enum StoreNews: Hashable, Sendable {
    /// The store refuses questions, or writes.
    case refused(isWriting: Bool, StoreRefusal)
    /// Too many answers are late.
    case late(isWriting: Bool, cause: String?)
    /// The store is used again.
    case recovered(isWriting: Bool)
    /// The store does not say whether an object is missing.
    case hidesMissing
    /// An object was wrong.
    case bad(String)
}
