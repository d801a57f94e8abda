/// WebP: a RIFF file that says its length, and its size in the first chunk.
///
/// RFC 9649 §2 container, §2.7.1 `VP8X`, §3.4 `VP8L`; RFC 6386 §9.1 for `VP8 `.
struct WebPWalker: ImageWalker {
    let mediaType: MediaType? = .webp
    private(set) var size: PixelSize?
    private var chunk: FourCC?
    private var end: UInt64?

    /// The RIFF header and the header of the first chunk.
    let firstStep = WalkStep.read(20)

    mutating func receive(_ field: ByteField) -> WalkStep {
        if let chunk {
            size = Self.size(in: field, of: chunk)
            return .rest
        }
        let chunk = FourCC(field, at: 12)
        let riffEnd = 8 + UInt64(field.little(UInt32.self, at: 4))
        let chunkEnd = 20 + UInt64(field.little(UInt32.self, at: 16))
        end = max(riffEnd, chunkEnd)
        self.chunk = chunk
        return ["VP8 ", "VP8L", "VP8X"].contains(chunk) ? .read(chunk == "VP8L" ? 5 : 10) : .rest
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        guard size != nil, let end else { return .empty }
        // Some leave out the byte that makes the last chunk even.
        return .reaches(end, of: length, padding: 1)
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
