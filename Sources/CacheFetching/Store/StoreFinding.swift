/// The object that the store has under a key, as far as a later write depends on it.
package enum StoreFinding: Sendable {
    /// Nothing.
    case missing
    /// This machine's claim.
    case claimed
    /// An object that is stale, wrong, or not readable.
    case stale
}
