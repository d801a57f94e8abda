/// PNG: a signature, then chunks of length, type, data and checksum. `IEND` is the last chunk.
///
/// W3C PNG (Third Edition) §5.3 chunk layout, §11.2.1 `IHDR`. Checksums are not computed.
struct PNGWalker: ImageWalker {
    private static let headerLength: UInt32 = 13
    private static let longestSide: UInt32 = 0x7FFF_FFFF

    private enum Awaiting {
        case chunk
        /// Width and height, the first fields of `IHDR`.
        case dimensions
    }

    let mediaType: MediaType? = .png
    private(set) var size: PixelSize?
    private var awaiting = Awaiting.chunk
    /// An `IDAT` chunk with data follows `IHDR`.
    private var hasData = false
    private var end: UInt64?

    let firstStep = WalkStep.read(8, after: 8)

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .chunk:
            return chunkStarted(
                FourCC(field, at: 4), length: field.big(UInt32.self, at: 0), dataAt: field.end)
        case .dimensions:
            let width = field.big(UInt32.self, at: 0)
            let height = field.big(UInt32.self, at: 4)
            if max(width, height) <= Self.longestSide { size = PixelSize(width, height) }
            return nextChunk(after: UInt64(Self.headerLength) - 8)
        }
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        hasData ? .ends(at: end, of: length) : .empty
    }

    private mutating func chunkStarted(
        _ type: FourCC, length: UInt32, dataAt data: UInt64
    ) -> WalkStep {
        guard length <= Int32.max, type.isPrintable else { return .rest }
        switch type {
        case "IHDR" where length == Self.headerLength && size == nil:
            awaiting = .dimensions
            return .read(8)
        case "IEND":
            end = data + UInt64(length) + 4
            return .rest
        case "IDAT":
            if length > 0, size != nil { hasData = true }
            return nextChunk(after: UInt64(length))
        default:
            return nextChunk(after: UInt64(length))
        }
    }

    /// Skips the rest of the chunk's data and its checksum.
    private mutating func nextChunk(after left: UInt64) -> WalkStep {
        awaiting = .chunk
        return .read(8, after: left + 4)
    }
}
