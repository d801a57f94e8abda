/// What an image is, told from its bytes alone.
///
/// One byte, because every entry of the index holds one. The names are those registered with IANA
/// (<https://www.iana.org/assignments/media-types/>).
public enum MediaType: UInt8, Sendable, CaseIterable {
    /// Not an image this program knows.
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

    /// The media type as HTTP and `user.mime_type` spell it.
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

    /// Parses exactly what ``name`` returns; `nil` for any other spelling.
    public init?(name: String) {
        guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }
}
