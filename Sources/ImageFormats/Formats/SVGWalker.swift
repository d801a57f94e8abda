/// SVG: XML whose root element is `svg`, with a prefix or without, whole once that is closed.
///
/// Recognised within the first 4 KiB; only a byte order mark, white space, comments, processing
/// instructions and a document type other than `html` may come before the root.
struct SVGWalker: ImageWalker {
    /// The root element has to start before this offset.
    private static let sniffLimit: UInt64 = 4_096

    private(set) var mediaType: MediaType?
    /// Left out: a length may be a percentage, and every size of a vector image is right.
    let size: PixelSize? = nil
    private var outline = XMLOutline()

    let firstStep = WalkStep.scan()

    mutating func scan(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> ScanResult {
        var index = 0
        while index < bytes.count {
            if mediaType == nil {
                outline.take(bytes[index], at: offset + UInt64(index))
                index += 1
                decide(at: offset + UInt64(index))
            } else if mediaType == .svg {
                index = outline.take(bytes, from: index, at: offset)
            } else {
                return (bytes.count, .rest)
            }
        }
        return (bytes.count, .scan())
    }

    mutating func receive(_ field: ByteField) -> WalkStep { .rest }

    func verdict(at length: UInt64) -> WalkVerdict {
        guard outline.isClosed else { return .empty }
        return WalkVerdict(completeness: .whole, hasTrailingBytes: outline.hasTextAfterRoot)
    }

    private mutating func decide(at offset: UInt64) {
        if outline.isForeign {
            mediaType = .other
        } else if let root = outline.root {
            let prefixEnd = root.lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? 0
            mediaType = root[prefixEnd...].elementsEqual("svg".utf8) ? .svg : .other
        } else if offset >= Self.sniffLimit {
            mediaType = .other
        }
    }
}
