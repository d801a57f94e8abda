package import CacheValues

/// The result of writing the origin's confirmation to the disk.
package enum RevalidationEnd: Sendable {
    /// The record was rewritten.
    case stored(EntryFacts)
    /// The record could not be rewritten. The bytes of the image are still right.
    case unstored
    /// Another file now has the name, or no file has it.
    case gone
}
