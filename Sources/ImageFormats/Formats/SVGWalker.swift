/// SVG: XML whose root element is `svg`, with or without a prefix. The file is whole when the root is closed.
///
/// The root has to start within the first 64 KiB. Before it the file can have a byte order mark, white space,
/// comments, processing instructions and a document type. Behind it, anything but white space, comments and
/// instructions is an error that XML does not forgive.
struct SVGWalker: ImageWalker {
    /// The root element has to start before this offset.
    private static let sniffLimit: UInt64 = 65_536

    private(set) var mediaType: MediaType?
    /// Not reported: lengths can be percentages, and a vector image can be drawn in any size.
    let size: PixelSize? = nil
    private var decoder: XMLDecoder?
    private var outline = XMLOutline()

    let firstStep = WalkStep.read(XMLDecoder.headLength)

    mutating func receive(_ field: ByteField) -> WalkStep {
        let decoder = XMLDecoder(field)
        self.decoder = decoder
        for byte in field.bytes.dropFirst(decoder.markLength) { take(byte) }
        return mediaType == .other ? .rest : .scan()
    }

    mutating func scan(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> ScanResult {
        var index = 0
        while index < bytes.count, mediaType != .other {
            if mediaType == .svg, decoder?.isTransparent == true {
                index = outline.take(bytes, from: index)
            } else {
                take(bytes[index])
                index += 1
                if mediaType == nil, offset + UInt64(index) >= Self.sniffLimit {
                    mediaType = .other
                }
            }
        }
        return mediaType == .other ? (bytes.count, .rest) : (bytes.count, .scan())
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        guard outline.isClosed else { return .empty }
        if outline.hasTextAfterRoot { return .malformed }
        return outline.isBetweenMarkup ? .ends(at: length, of: length) : .empty
    }

    private mutating func take(_ byte: UInt8) {
        guard let character = decoder?.character(byte) else { return }
        outline.take(character)
        guard mediaType == nil else { return }
        if outline.isForeign {
            mediaType = .other
        } else if let root = outline.root {
            let prefixEnd = root.lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? 0
            mediaType = root[prefixEnd...].elementsEqual("svg".utf8) ? .svg : .other
        }
    }
}
