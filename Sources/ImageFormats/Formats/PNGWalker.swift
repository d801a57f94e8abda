/// PNG: a signature, then chunks of length, type, data and checksum. `IEND` is the last chunk.
///
/// W3C PNG (Third Edition) §5.3 chunk layout, §11.2.1 `IHDR`, §11.3.4.5 `eXIf`. Checksums are not computed. The first
/// `eXIf` before the data says how the image is turned, as in Chromium. Decoders show an image that is cut off, as
/// they do with JPEG, but none with an impossible header.
struct PNGWalker: ImageWalker {
    private static let headerLength: UInt32 = 13
    private static let longestSide: UInt32 = 0x7FFF_FFFF
    /// The possible bit depths of each colour type.
    private static let depths: [UInt8: Set<UInt8>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]

    private enum Awaiting {
        case chunk
        /// The data of `IHDR`.
        case header
        case exif(ExifReader)
    }

    let mediaType: MediaType? = .png
    private(set) var size: PixelSize?
    private(set) var orientation: Orientation?
    private var awaiting = Awaiting.chunk
    private var isMalformed = false
    /// Offset of the first data of an `IDAT` chunk behind `IHDR`.
    private var dataStart: UInt64?
    private var end: UInt64?

    let firstStep = WalkStep.read(8, after: 8)

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .chunk:
            return chunkStarted(
                FourCC(field, at: 4), length: field.big(UInt32.self, at: 0), dataAt: field.end)
        case .header:
            takeHeader(field)
            return nextChunk(after: 0)
        case .exif(var exif):
            if let step = exif.receive(field) {
                awaiting = .exif(exif)
                return step
            }
            orientation = exif.orientation
            return nextChunk(after: exif.end - field.end)
        }
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        guard let dataStart, length > dataStart else { return .empty }
        return isMalformed ? .malformed : .ends(at: end, of: length)
    }

    private mutating func chunkStarted(
        _ type: FourCC, length: UInt32, dataAt data: UInt64
    ) -> WalkStep {
        guard length <= Int32.max, type.isPrintable else { return .rest }
        switch type {
        case "IHDR" where length == Self.headerLength && size == nil:
            awaiting = .header
            return .read(Int(length))
        case "IEND":
            end = data + UInt64(length) + 4
            return .rest
        case "eXIf" where orientation == nil:
            guard let exif = ExifReader(from: data, to: data + UInt64(length)) else {
                orientation = .upright
                return nextChunk(after: UInt64(length))
            }
            awaiting = .exif(exif)
            return .read(ExifReader.headLength)
        case "IDAT":
            orientation = orientation ?? .upright
            if length > 0, size != nil { dataStart = dataStart ?? data }
            return nextChunk(after: UInt64(length))
        default:
            return nextChunk(after: UInt64(length))
        }
    }

    private mutating func takeHeader(_ field: ByteField) {
        let width = field.big(UInt32.self, at: 0)
        let height = field.big(UInt32.self, at: 4)
        if max(width, height) <= Self.longestSide { size = PixelSize(width, height) }
        let (depth, colorType) = (field.bytes[8], field.bytes[9])
        // The methods of compression, filtering and interlacing.
        let hasKnownMethods = field.holds([0, 0], at: 10) && field.bytes[12] <= 1
        isMalformed = !hasKnownMethods || Self.depths[colorType]?.contains(depth) != true
    }

    /// Skips the rest of the chunk's data and its checksum.
    private mutating func nextChunk(after left: UInt64) -> WalkStep {
        awaiting = .chunk
        return .read(8, after: left + 4)
    }
}
