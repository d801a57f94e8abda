public import CacheKey
public import CacheValues

/// An entry that a verification found damaged, and the outcome.
public struct DamagedEntry: Sendable {
    /// The outcome for a damaged entry.
    public enum End: Hashable, Sendable {
        /// The image is not cached. The failure says what is wrong with the file, and whether it was removed.
        case left(Failure)
        /// The image was downloaded again.
        case refetched
        /// The file was removed. The image cannot be downloaded again, because its URL is not known.
        case removed
    }

    public let key: CacheKey
    /// The URL of the image, if the file has it.
    public let url: String?
    public let damage: Damage
    public let end: End
}
