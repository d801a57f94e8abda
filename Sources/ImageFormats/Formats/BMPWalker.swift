/// BMP: a file header, one of several bitmap headers, and pixels at the offset that the file header states.
///
/// Sources: Microsoft, "Bitmap Storage" and `BITMAPV5HEADER`; OS/2 headers of 12, 16 and 64 bytes. The end of
/// uncompressed pixels follows from the dimensions, because the field with the file size is often 0 or wrong.
/// Compressed pixels end where the header states. Decoders show an image that is cut off, as they do with JPEG.
struct BMPWalker: ImageWalker {
    /// All sizes of bitmap headers that were ever defined.
    static let headerSizes: Set<UInt32> = [12, 16, 40, 52, 56, 64, 108, 124]

    /// All numbers of bits that an uncompressed pixel can have.
    private static let depths: Set<UInt16> = [1, 2, 4, 8, 16, 24, 32, 64]

    private enum End {
        /// The headers are incomplete, or they make no sense.
        case missing
        /// The pixels are compressed, and the header does not state their length.
        case unknown
        /// The pixels end at this offset. Run lengths can end before it: some encoders state the size of
        /// their buffer.
        case at(UInt64)
    }

    let mediaType: MediaType? = .bmp
    private(set) var size: PixelSize?
    private var headerSize: UInt32 = 0
    private var claimedLength: UInt64 = 0
    private var pixels: UInt64 = 0
    private var end = End.missing

    /// The file header and the size of the bitmap header.
    let firstStep = WalkStep.read(18)

    mutating func receive(_ field: ByteField) -> WalkStep {
        guard headerSize > 0 else {
            headerSize = field.little(UInt32.self, at: 14)
            claimedLength = UInt64(field.little(UInt32.self, at: 2))
            pixels = UInt64(max(field.little(UInt32.self, at: 10), 14 + headerSize))
            return .read(Int(headerSize) - 4)
        }
        if headerSize == 12 {
            coreHeader(field)
        } else {
            infoHeader(field)
        }
        return .rest
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        switch end {
        case .missing: .empty
        case _ where length <= pixels: .empty
        case .unknown: .unverifiable
        case .at(let end): .ends(at: end, of: length, slack: slack(behind: end))
        }
    }

    /// Bytes behind the pixels that belong to the file by its header.
    private func slack(behind end: UInt64) -> UInt64 {
        claimedLength > end ? claimedLength - end : 0
    }

    private mutating func coreHeader(_ field: ByteField) {
        size = PixelSize(field.little(UInt16.self, at: 0), field.little(UInt16.self, at: 2))
        setEnd(uncompressedWithBits: field.little(UInt16.self, at: 6))
    }

    private mutating func infoHeader(_ field: ByteField) {
        let height = Int32(bitPattern: field.little(UInt32.self, at: 4))
        size = PixelSize(field.little(UInt32.self, at: 0), height.magnitude)
        let compression = headerSize >= 40 ? field.little(UInt32.self, at: 12) : 0
        if isUncompressed(compression) {
            setEnd(uncompressedWithBits: field.little(UInt16.self, at: 10))
        } else {
            let byteCount = field.little(UInt32.self, at: 16)
            end = byteCount == 0 ? .unknown : .at(pixels + UInt64(byteCount))
        }
    }

    /// Uncompressed are `BI_RGB`, `BI_BITFIELDS` and `BI_ALPHABITFIELDS`. In an OS/2 header 3 means another
    /// compression.
    private func isUncompressed(_ compression: UInt32) -> Bool {
        compression == 0 || (headerSize != 64 && (compression == 3 || compression == 6))
    }

    /// Each row is padded to a multiple of four bytes.
    private mutating func setEnd(uncompressedWithBits bits: UInt16) {
        guard let size, Self.depths.contains(bits) else { return }
        let stride = (UInt64(size.width) * UInt64(bits) + 31) / 32 * 4
        end = .at(pixels.plusClamped(stride.timesClamped(UInt64(size.height))))
    }
}
