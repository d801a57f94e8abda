/// A naked JPEG XL codestream, which tells its size but not where it ends.
///
/// ISO/IEC 18181-1.
struct JXLCodestreamWalker: ImageWalker {
    let mediaType: MediaType? = .jxl
    private(set) var size: PixelSize?
    private var head: [UInt8] = []

    /// The whole file may be hardly longer than the longest header.
    let firstStep = WalkStep.read(1)

    mutating func receive(_ field: ByteField) -> WalkStep {
        head += field.bytes
        size = JXLSize.read(head[...])
        return size == nil && head.count < JXLSize.byteCount ? .read(1) : .rest
    }

    func verdict(at length: UInt64) -> WalkVerdict { size == nil ? .empty : .unverifiable }
}
