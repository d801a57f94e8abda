/// The permitted uses of an entry that is no longer fresh.
package struct Staleness: Equatable, Sendable {
    package var reuse: Reuse
    /// Whether the cache answers with the entry if the origin fails.
    package var outlivesFailure: Bool

    package init(reuse: Reuse, outlivesFailure: Bool) {
        (self.reuse, self.outlivesFailure) = (reuse, outlivesFailure)
    }
}
