/// The type of an image, and its dimensions if they are known. Both come from its first bytes.
public struct ImageShape: Hashable, Sendable {
    public let mediaType: MediaType
    /// Pixels as a viewer shows them, cropped and turned. `nil` together with the height until they are known.
    public let width: Int?
    /// Pixels as a viewer shows them, cropped and turned.
    public let height: Int?
    /// How a viewer turns the stored pixels.
    public let orientation: Orientation

    package init(
        mediaType: MediaType, width: Int? = nil, height: Int? = nil,
        orientation: Orientation = .upright
    ) {
        self.mediaType = mediaType
        (self.width, self.height, self.orientation) = (width, height, orientation)
    }
}
