/// The format of an image. The cache determines it from the bytes, never from `Content-Type` or the URL.
///
///     MediaType.svg.name               // "image/svg+xml"
///     MediaType(name: "image/png")     // .png
///     MediaType.jpeg.endings           // ["jpg", "jpeg", "jpe", "jfif"]
///
/// It takes one byte, because every entry of the index has one. Records on the disk have the numbers too, so they
/// never change: `docs/lookup/disk-format.md`.
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

    /// The name that is registered with IANA (<https://www.iana.org/assignments/media-types/>), and the endings of
    /// files, the usual one first.
    var row: (name: StaticString, endings: StaticString) {
        switch self {
        case .other: ("application/octet-stream", "")
        case .jpeg: ("image/jpeg", "jpg jpeg jpe jfif")
        case .png: ("image/png", "png apng")
        case .gif: ("image/gif", "gif")
        case .webp: ("image/webp", "webp")
        case .avif: ("image/avif", "avif")
        case .heic: ("image/heic", "heic heif")
        case .jxl: ("image/jxl", "jxl")
        case .bmp: ("image/bmp", "bmp dib")
        case .tiff: ("image/tiff", "tif tiff")
        case .ico: ("image/vnd.microsoft.icon", "ico cur")
        case .svg: ("image/svg+xml", "svg")
        }
    }

    /// The media type as HTTP and the attribute `user.mime_type` spell it.
    public var literal: StaticString { row.name }

    /// Whether images of this type are made of pixels and have a size in them. They cannot contain scripts or links.
    public var isRaster: Bool { self != .svg && self != .other }
}
