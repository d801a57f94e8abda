/// WebP: a RIFF file that states its length, and its dimensions in the first chunk.
///
/// RFC 9649 §2 container, §2.7.1 `VP8X`, §3.4 `VP8L`; RFC 6386 §9.1 for `VP8 `. Behind `VP8X` the
/// walker follows the chunks up to the image or through all frames, and skips the rest. Decoders show no
/// image that is cut off, and none that leaves the file by the file's own length.
/// Chromium turns no WebP: it ignores the chunk `EXIF`, and so does this.
struct WebPWalker: ImageWalker {
    private enum Awaiting {
        /// The RIFF header and the header of the first chunk.
        case file
        /// The header of a chunk behind `VP8X`.
        case chunk
        /// The first bytes of a chunk. `next` is the offset of the next chunk.
        case payload(FourCC, next: UInt64)
    }

    let mediaType: MediaType? = .webp
    private(set) var size: PixelSize?
    private var awaiting = Awaiting.file
    private var hasImage = false
    /// A part of the image leaves the file by the file's own length.
    private var isMalformed = false
    /// Offset of the byte after the file, by its own length.
    private var end: UInt64 = 0

    let firstStep = WalkStep.read(20)

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .file:
            end = 8 + UInt64(field.little(UInt32.self, at: 4))
            return chunkStarted(field, at: 12)
        case .chunk:
            return chunkStarted(field, at: 0)
        case .payload("VP8X", let next):
            size = Self.size(in: field, of: "VP8X")
            awaiting = .chunk
            return .read(8, after: max(next, field.end) - field.end)
        case .payload(let type, _):
            hasImage = Self.isImage(field, of: type)
            size = size ?? Self.size(in: field, of: type)
            return .rest
        }
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        guard hasImage, size != nil else { return .empty }
        return isMalformed ? .malformed : .reaches(end, of: length)
    }

    private mutating func chunkStarted(_ field: ByteField, at index: Int) -> WalkStep {
        let type = FourCC(field, at: index)
        let length = UInt64(field.little(UInt32.self, at: index + 4))
        let paddedLength = length + length % 2
        let leavesFile = field.end + length > end
        switch type {
        case "VP8 ", "VP8L", "VP8X":
            isMalformed = isMalformed || leavesFile
            awaiting = .payload(type, next: field.end + paddedLength)
            return .read(type == "VP8L" ? 5 : 10)
        case "ANMF" where size != nil:
            isMalformed = isMalformed || leavesFile
            hasImage = true
        default:
            break
        }
        let hasNext = size != nil && field.end + paddedLength + 8 <= end
        return hasNext ? .read(8, after: paddedLength) : .rest
    }

    /// Whether the chunk starts with a key frame or a lossless image.
    private static func isImage(_ field: ByteField, of chunk: FourCC) -> Bool {
        chunk == "VP8L"
            ? field.bytes[0] == 0x2F
            : field.bytes[0] & 1 == 0 && field.holds([0x9D, 0x01, 0x2A], at: 3)
    }

    private static func size(in field: ByteField, of chunk: FourCC) -> PixelSize? {
        switch chunk {
        case "VP8L":
            let bits = field.little(UInt32.self, at: 1)
            return PixelSize(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        case "VP8X":
            let width = field.little(UInt32.self, at: 4) & 0xFF_FFFF
            let height = field.little(UInt32.self, at: 6) >> 8
            return PixelSize(width + 1, height + 1)
        default:
            let width = field.little(UInt16.self, at: 6) & 0x3FFF
            return PixelSize(width, field.little(UInt16.self, at: 8) & 0x3FFF)
        }
    }
}
