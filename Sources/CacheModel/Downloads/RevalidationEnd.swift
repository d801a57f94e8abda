/// What became of a confirmation on the disk.
package enum RevalidationEnd: Sendable {
    /// The record is rewritten.
    case stored(EntryFacts)
    /// The record could not be rewritten. The bytes are right all the same.
    case unstored
    /// Another file lies under the name now, or none.
    case gone
}
