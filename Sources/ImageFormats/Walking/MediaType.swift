/// The format of an image. The cache determines it from the bytes, never from `Content-Type` or the URL.
///
///     MediaType.svg.name               // "image/svg+xml"
///     MediaType(name: "image/png")     // .png
///
/// It takes one byte, because every entry of the index has one. The names are those registered with IANA
/// (<https://www.iana.org/assignments/media-types/>).
public enum MediaType: UInt8, Sendable, CaseIterable {
    /// Not an image of a known format.
    case other = 0
    case jpeg
    case png
    case gif
    case webp
    case avif
    case heic
    case jxl
    case bmp
    case tiff
    case ico
    case svg

    /// The media type as HTTP and the attribute `user.mime_type` spell it.
    public var name: String {
        switch self {
        case .other: "application/octet-stream"
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .gif: "image/gif"
        case .webp: "image/webp"
        case .avif: "image/avif"
        case .heic: "image/heic"
        case .jxl: "image/jxl"
        case .bmp: "image/bmp"
        case .tiff: "image/tiff"
        case .ico: "image/vnd.microsoft.icon"
        case .svg: "image/svg+xml"
        }
    }

    /// Whether images of this type have a size in pixels.
    package var hasSize: Bool { self != .svg && self != .other }

    /// The type with a name.
    ///
    /// - Parameter name: exactly what ``name`` returns. Any other spelling gives `nil`.
    public init?(name: String) {
        guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }
}
