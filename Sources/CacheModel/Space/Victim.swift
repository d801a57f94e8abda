/// A file that has to be unlinked. It has left the index already; its bytes stay in the ledger until the
/// unlink is reported, because the disk holds them until then.
package struct Victim: Hashable, Sendable {
    package let name: DirectoryName
    /// Bytes the disk holds for it.
    package let bytes: Int64
    /// Chosen by eviction, as opposed to removed because somebody asked.
    package var isEvicted = false
    /// What was known of an entry, in case its file stays.
    package var facts: EntryFacts?
}
