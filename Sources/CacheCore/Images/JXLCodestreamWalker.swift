/// A naked JPEG XL codestream, which tells its size but not where it ends.
///
/// ISO/IEC 18181-1.
struct JXLCodestreamWalker: ImageWalker {
    let mediaType: MediaType? = .jxl
    private(set) var size: PixelSize?

    let firstStep = WalkStep.read(JXLSize.byteCount)

    mutating func receive(_ field: ByteField) -> WalkStep {
        size = JXLSize.read(field.bytes[...])
        return .rest
    }

    func verdict(at length: UInt64) -> WalkVerdict { .unverifiable }
}
