/// A search for victims that ends after a bounded number of steps, so that one hold of the lock is short,
/// and after a bounded number of victims, so that other work gets its turn.
package struct VictimSearch: Sendable {
    /// Files unlinked in one go.
    package static let slice = 128

    package var victims: [Victim] = []
    package var limit = Self.slice
    /// How many pinned or spared entries may still be skipped.
    package var steps = 1024
    /// It ran out of steps, or reached its limit; the next search goes on from there.
    package var isCutShort = false
}
