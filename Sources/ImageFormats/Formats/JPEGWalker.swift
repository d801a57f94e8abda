/// JPEG: segments that start with a marker, entropy-coded data between them, and `EOI` at the end.
///
/// ITU-T T.81 annex B: B.1.1.2 markers and fill bytes, B.1.1.5 stuffed zeros, B.2.2 frame header, B.2.5 `DNL`. The
/// first Exif before the first scan says how the image is turned, as in Chromium. Thumbnails are inside `APPn`
/// segments and are skipped with them. Stray bytes between segments are skipped, as decoders do. Only the first frame
/// header counts, because damaged data can look like another.
struct JPEGWalker: ImageWalker {
    private enum Awaiting {
        case segment
        /// The name at the start of an `APP1` that ends at this offset.
        case name(end: UInt64)
        case exif(ExifReader)
    }

    let mediaType: MediaType? = .jpeg
    private(set) var size: PixelSize?
    private(set) var orientation: Orientation?
    private var awaiting = Awaiting.segment
    /// Kept apart from the size, because a frame header can have 0 lines and leave them to a `DNL` segment
    /// after the first scan.
    private var width: UInt16 = 0
    /// The last segment was the header of a scan, after which entropy-coded data follows.
    private var isInScan = false
    /// At least one byte of entropy-coded data has arrived.
    private var hasData = false
    private var end: UInt64?
    /// The marker of the current segment.
    private var segment: UInt8 = 0
    /// The last byte scanned was 0xFF.
    private var isPrefixed = false

    let firstStep = WalkStep.scan(after: 2)

    mutating func scan(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> ScanResult {
        var index = 0
        while index < bytes.count {
            if isPrefixed {
                let code = bytes[index]
                index += 1
                isPrefixed = code == 0xFF
                if code == 0x00, isInScan { hasData = true }
                if let step = marker(code, endingAt: offset + UInt64(index)) {
                    return (index, step)
                }
            } else {
                let next = bytes.firstIndex(of: 0xFF, from: index)
                if next > index, isInScan { hasData = true }
                index = next + 1
                isPrefixed = index <= bytes.count
            }
        }
        return (bytes.count, .scan())
    }

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .segment:
            return segmentStarted(field)
        case .name(let end):
            awaiting = .segment
            guard field.holds("Exif\0") else { return .scan(after: end - field.end) }
            guard let exif = ExifReader(from: field.end, to: end) else {
                orientation = .upright
                return .scan(after: end - field.end)
            }
            awaiting = .exif(exif)
            return .read(ExifReader.headLength)
        case .exif(var exif):
            let next = exif.receive(field)
            awaiting = next == nil ? .segment : .exif(exif)
            if next == nil { orientation = exif.orientation }
            return next ?? .scan(after: exif.end - field.end)
        }
    }

    private mutating func segmentStarted(_ field: ByteField) -> WalkStep {
        if Self.isFrame(segment), width == 0 {
            width = field.big(UInt16.self, at: 5)
            size = PixelSize(width, field.big(UInt16.self, at: 3))
        } else if segment == Self.defineLines, size == nil {
            size = PixelSize(width, field.big(UInt16.self, at: 2))
        }
        let length = Int(field.big(UInt16.self, at: 0))
        if segment == Self.application1, orientation == nil, length >= 2 + Self.nameLength {
            awaiting = .name(end: field.offset + UInt64(length))
            return .read(Self.nameLength)
        }
        return .scan(after: UInt64(max(0, length - field.bytes.count)))
    }

    /// Decoders show a file that is cut off, and too many files lack their end to be refused.
    func verdict(at length: UInt64) -> WalkVerdict {
        hasData && size != nil ? .ends(at: end, of: length) : .empty
    }

    /// The step after the marker `code`. `nil` if no segment follows: the marker stands alone, or the byte is
    /// not a marker.
    private mutating func marker(_ code: UInt8, endingAt offset: UInt64) -> WalkStep? {
        switch code {
        case 0x00, 0x01, 0xD0...0xD8, 0xFF:
            return nil
        case Self.endOfImage:
            end = offset
            return .rest
        default:
            segment = code
            isInScan = code == Self.startOfScan
            if isInScan { orientation = orientation ?? .upright }
            return .read(Self.bytesOfInterest(code))
        }
    }

    /// Bytes to read of a segment: the two bytes of its length, and the dimensions in a frame header or `DNL`.
    private static func bytesOfInterest(_ code: UInt8) -> Int {
        if isFrame(code) { return 7 }
        return code == defineLines ? 4 : 2
    }

    /// Whether the marker is one of `SOF0` to `SOF15`. The gaps between them are `DHT`, `JPG` and `DAC`.
    private static func isFrame(_ code: UInt8) -> Bool {
        0xC0...0xCF ~= code && code != 0xC4 && code != 0xC8 && code != 0xCC
    }

    private static let endOfImage: UInt8 = 0xD9
    private static let startOfScan: UInt8 = 0xDA
    private static let defineLines: UInt8 = 0xDC
    private static let application1: UInt8 = 0xE1
    /// Bytes of the name of Exif: `Exif`, a zero and a byte of padding.
    private static let nameLength = 6
}
