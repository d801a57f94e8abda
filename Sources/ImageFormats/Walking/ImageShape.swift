/// The type of an image, and its dimensions if they are known. Both come from its first bytes.
public struct ImageShape: Hashable, Sendable {
    public let mediaType: MediaType
    /// Pixels as stored. `nil` together with the height until they are known.
    public let width: Int?
    /// Pixels as stored.
    public let height: Int?

    package init(mediaType: MediaType, width: Int? = nil, height: Int? = nil) {
        (self.mediaType, self.width, self.height) = (mediaType, width, height)
    }

    /// The number of pixels, at most `Int64.max`; `nil` until the dimensions are known.
    package var pixels: Int64? {
        guard let width, let height, let size = PixelSize(width, height) else { return nil }
        return Int64(clamping: size.area)
    }
}
