public import CacheKey
public import CacheValues

/// An entry that a verification found damaged, and the outcome.
public struct DamagedEntry: Sendable {
    /// The outcome for a damaged entry.
    public enum End: Hashable, Sendable {
        /// The file is still there, under the name of a damaged file. The failure says why.
        case left(Failure)
        /// The image was downloaded again.
        case refetched
        /// The file was removed, because its URL is not known.
        case removed
    }

    public let key: CacheKey
    /// The URL of the image, if the file tells.
    public let url: String?
    public let damage: Damage
    public let end: End
}
