/// A bare JPEG XL codestream, which states its dimensions but not its end.
///
/// ISO/IEC 18181-1.
struct JXLCodestreamWalker: ImageWalker {
    let mediaType: MediaType? = .jxl
    private var header: JXLHeader?
    private var head: [UInt8] = []

    var size: PixelSize? { header?.size }
    var orientation: Orientation? { header?.orientation }

    /// Reads byte by byte, because the whole file can be shorter than the longest header.
    let firstStep = WalkStep.read(1)

    mutating func receive(_ field: ByteField) -> WalkStep {
        head += field.bytes
        header = JXLHeader(head)
        return header == nil && head.count < JXLHeader.byteCount ? .read(1) : .rest
    }

    func verdict(at length: UInt64) -> WalkVerdict { size == nil ? .empty : .unverifiable }
}
