/// The state of one image in a directory.
public struct FolderImage: Sendable, Equatable {
    public enum State: Sendable {
        case missing
        /// A download was interrupted; a later one can continue it or starts over.
        case interrupted
        case inFlight
        case cached
    }

    public var state = State.missing
    /// Bytes that are there: of the image, or of its download.
    public var received: Int64 = 0
    /// Bytes of the whole image; -1 while unknown.
    public var total: Int64 = -1
    /// The number of the media type in a record; 0 if unknown.
    public var type: UInt16 = 0
    /// In pixels as a viewer shows them; 0 if unknown.
    public var width: Int32 = 0
    /// In pixels; 0 if unknown.
    public var height: Int32 = 0
    /// The Unix second until which the image may be used without asking its origin; 0 if the record does not say.
    public var freshUntil: UInt32 = 0

    public init(
        state: State = .missing, received: Int64 = 0, total: Int64 = -1, type: UInt16 = 0,
        width: Int32 = 0, height: Int32 = 0, freshUntil: UInt32 = 0
    ) {
        (self.state, self.received, self.total) = (state, received, total)
        (self.type, self.width, self.height) = (type, width, height)
        self.freshUntil = freshUntil
    }

    /// The media types by their numbers; `docs/disk-format.md`.
    private static let names: [StaticString] = [
        "", "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/heic",
        "image/jxl", "image/bmp", "image/tiff", "image/vnd.microsoft.icon", "image/svg+xml",
    ]

    /// The media type; empty if unknown.
    public var mediaType: StaticString {
        Int(type) < Self.names.count ? Self.names[Int(type)] : Self.names[0]
    }
}
