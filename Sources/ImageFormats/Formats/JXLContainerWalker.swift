/// JPEG XL in boxes. The codestream is in one `jxlc` box or in numbered `jxlp` boxes, the last one marked.
///
/// ISO/IEC 18181-2 §9. No box marks the end of the file. The file is whole at the end of any box after the
/// codestream is complete.
struct JXLContainerWalker: ImageWalker {
    /// The first box, which is the same in every file.
    static let signature: [UInt8] = [
        0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A,
    ]

    private enum Awaiting {
        case header
        /// The first bytes of a box with a part of the codestream.
        case codestream(BoxHeader)
    }

    let mediaType: MediaType? = .jxl
    private var header: JXLHeader?
    private var awaiting = Awaiting.header
    private var headers = BoxHeaderReader()
    /// The first bytes of the codestream. They can be spread over several boxes.
    private var head: [UInt8] = []
    /// The last part of the codestream has begun.
    private var hasCodestream = false
    /// End of the current box. `nil` if it reaches to the end of the file.
    private var boxEnd: UInt64? = 12
    /// The end of the image, if bytes follow it that are not a box.
    private var end: UInt64?
    /// The image was whole at the start of some box. The bytes behind it can look like a box without being one.
    private var wasWhole = false

    var size: PixelSize? { header?.size }
    var orientation: Orientation? { header?.orientation }

    let firstStep = WalkStep.read(8, after: 12)

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .codestream(let box):
            awaiting = .header
            return codestream(field, in: box)
        case .header:
            switch headers.receive(field) {
            case .partial: return .read(8)
            case .invalid(let start): return junk(at: start)
            case .header(let box): return opened(box)
            }
        }
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        if let end { return .ends(at: end, of: length) }
        guard size != nil else { return .empty }
        // The last part so far announces another one.
        guard hasCodestream else { return .cut }
        guard let boxEnd else { return .unverifiable }
        if !wasWhole, length < boxEnd { return .cut }
        return BoxHeader.isMissing(from: boxEnd, to: length)
            ? .ends(at: boxEnd, of: length) : .truncated
    }

    /// Handles bytes that are not a box: trailing bytes if the image is whole before them, otherwise damage.
    private mutating func junk(at start: UInt64) -> WalkStep {
        if verdict(at: start).completeness == .whole { end = start }
        return .rest
    }

    private mutating func opened(_ box: BoxHeader) -> WalkStep {
        wasWhole = wasWhole || verdict(at: box.start).completeness == .whole
        boxEnd = box.end
        guard box.type == "jxlc" || box.type == "jxlp" else { return box.stepOver }
        let length = max(1, Self.indexLength(box))
        guard box.payloadLength ?? .max >= length else { return box.stepOver }
        awaiting = .codestream(box)
        return .read(length)
    }

    private mutating func codestream(_ field: ByteField, in box: BoxHeader) -> WalkStep {
        let isFirst = field.offset == box.payload
        let index = isFirst ? Self.indexLength(box) : 0
        if isFirst, index == 0 || field.bytes[0] & 0x80 != 0 { hasCodestream = true }
        if header == nil, head.count < JXLHeader.byteCount {
            head += field.bytes.dropFirst(index)
            header = JXLHeader(head)
            // Byte by byte, because a box without an end can be shorter than the longest header.
            if header == nil, head.count < JXLHeader.byteCount, field.end < box.end ?? .max {
                awaiting = .codestream(box)
                return .read(1)
            }
        }
        return box.end.map { .read(8, after: $0 - field.end) } ?? .rest
    }

    /// Bytes before the codestream in a box. A `jxlp` box starts with its number, and the highest bit of the
    /// number marks the last part.
    private static func indexLength(_ box: BoxHeader) -> Int { box.type == "jxlp" ? 4 : 0 }
}
