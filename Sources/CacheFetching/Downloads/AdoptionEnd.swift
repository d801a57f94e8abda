package import CacheValues

/// The end of an attempt to give an image the bytes of an entry.
package enum AdoptionEnd: Sendable {
    /// The image is an entry with these bytes now, or was one.
    case adopted(EntryFacts)
    /// No entry has the bytes.
    case none
}
