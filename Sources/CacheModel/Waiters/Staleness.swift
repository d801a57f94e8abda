/// What may be done with an entry that is no longer fresh.
package struct Staleness: Equatable, Sendable {
    package var reuse: Reuse
    /// Whether the entry is the answer if the origin fails.
    package var outlivesFailure: Bool

    package init(reuse: Reuse, outlivesFailure: Bool) {
        (self.reuse, self.outlivesFailure) = (reuse, outlivesFailure)
    }
}
