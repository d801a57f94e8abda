/// The type of an image, and its dimensions if they are known: what its first bytes tell.
public struct ImageShape: Hashable, Sendable {
    public let mediaType: MediaType
    /// Pixels as stored. `nil` together with the height until they are known.
    public let width: Int?
    /// Pixels as stored.
    public let height: Int?

    package init(mediaType: MediaType, width: Int? = nil, height: Int? = nil) {
        (self.mediaType, self.width, self.height) = (mediaType, width, height)
    }
}
