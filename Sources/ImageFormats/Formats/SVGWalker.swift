/// SVG: XML whose root element is `svg`, with or without a prefix. The file is whole when the root is closed.
///
/// The root has to start within the first 4 KiB. Before it the file can have a byte order mark, white space,
/// comments, processing instructions and a document type other than `html`.
struct SVGWalker: ImageWalker {
    /// The root element has to start before this offset.
    private static let sniffLimit: UInt64 = 4_096

    private(set) var mediaType: MediaType?
    /// Not reported: lengths can be percentages, and a vector image can be drawn in any size.
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
