/// JPEG XL in boxes: the codestream in one `jxlc` or in numbered `jxlp`, the last one marked.
///
/// ISO/IEC 18181-2 §9. No box is an end mark, so the file is whole at the end of any box once
/// the codestream is.
struct JXLContainerWalker: ImageWalker {
    /// The first box, always the same.
    static let signature: [UInt8] = [
        0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A,
    ]

    private enum Awaiting {
        case header
        /// The beginning of a box that holds codestream.
        case codestream(BoxHeader)
    }

    let mediaType: MediaType? = .jxl
    private(set) var size: PixelSize?
    private var awaiting = Awaiting.header
    private var headers = BoxHeaderReader()
    /// The beginning of the codestream, of which the first parts may be too short for its header.
    private var head: [UInt8] = []
    /// The last part of the codestream has begun.
    private var hasCodestream = false
    /// End of the box being walked; `nil` once one reaches to the end of the file.
    private var boxEnd: UInt64? = 12
    /// Where something that is no box follows the image.
    private var end: UInt64?
    /// Some box began where the image was whole.
    private var wasWhole = false

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

    /// What follows the image may look like a box and be none.
    var missesWhatIsCut: Bool { !wasWhole }

    func verdict(at length: UInt64) -> WalkVerdict {
        if let end { return .ends(at: end, of: length) }
        guard size != nil else { return .empty }
        // The codestream says itself that another part follows.
        guard hasCodestream else { return .cut }
        guard let boxEnd else { return .unverifiable }
        if !wasWhole, length < boxEnd { return .cut }
        return BoxHeader.isMissing(from: boxEnd, to: length)
            ? .ends(at: boxEnd, of: length) : .truncated
    }

    /// Something that is no box: trailing bytes if the image was whole before it, else damage.
    private mutating func junk(at start: UInt64) -> WalkStep {
        if verdict(at: start).completeness == .whole { end = start }
        return .rest
    }

    private mutating func opened(_ box: BoxHeader) -> WalkStep {
        wasWhole = wasWhole || verdict(at: box.start).completeness == .whole
        boxEnd = box.end
        guard box.type == "jxlc" || box.type == "jxlp" else { return box.stepOver }
        let wanted = Self.indexLength(box) + JXLSize.byteCount
        let length = min(UInt64(wanted), box.payloadLength ?? .max)
        guard length >= max(1, Self.indexLength(box)) else { return box.stepOver }
        awaiting = .codestream(box)
        return .read(Int(length))
    }

    private mutating func codestream(_ field: ByteField, in box: BoxHeader) -> WalkStep {
        let index = Self.indexLength(box)
        if size == nil, head.count < JXLSize.byteCount {
            head += field.bytes.dropFirst(index)
            size = JXLSize.read(head[...])
        }
        if index == 0 || field.bytes[0] & 0x80 != 0 { hasCodestream = true }
        return box.end.map { .read(8, after: $0 - field.end) } ?? .rest
    }

    /// A partial codestream starts with its number, whose highest bit marks the last part.
    private static func indexLength(_ box: BoxHeader) -> Int { box.type == "jxlp" ? 4 : 0 }
}
