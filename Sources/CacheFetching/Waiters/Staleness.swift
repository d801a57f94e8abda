package import CacheValues

/// The permitted uses of an entry that is no longer fresh.
package struct Staleness: Equatable, Sendable {
    package var reuse: Reuse
    /// Whether the cache answers with the entry if the origin fails.
    package var allowsStaleIfError: Bool

    package init(reuse: Reuse, allowsStaleIfError: Bool) {
        (self.reuse, self.allowsStaleIfError) = (reuse, allowsStaleIfError)
    }
}
