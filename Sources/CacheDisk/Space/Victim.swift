package import CacheValues

/// The file of an entry or a partial that has to be unlinked. The index or the list of partials no
/// longer has it. Its bytes stay in the ledger until the unlink is reported, because the disk
/// holds them until then.
package struct Victim: Hashable, Sendable {
    package let name: DirectoryName
    /// Bytes that the disk holds for the file.
    package let bytes: Int64
    /// Whether an eviction chose the file. Otherwise it was removed for another reason.
    package var isEvicted = false
    /// The facts with which the entry returns to the index if the unlink fails. `nil` for a file
    /// that was not in the index.
    package var facts: EntryFacts?

    /// Whether it is the file of an entry.
    package var isEntry: Bool {
        if case .entry = name { true } else { false }
    }
}
