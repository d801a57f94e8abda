/// A file that has to be unlinked. It has already left the index. Its bytes stay in the ledger
/// until the unlink is reported, because the disk holds them until then.
package struct Victim: Hashable, Sendable {
    package let name: DirectoryName
    /// Bytes that the disk holds for the file.
    package let bytes: Int64
    /// Whether an eviction chose the file. Otherwise it was removed for another reason.
    package var isEvicted = false
    /// The facts about the entry, which are needed if its file stays.
    package var facts: EntryFacts?
}
