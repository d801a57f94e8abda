/// JPEG: segments introduced by markers, entropy-coded data between them, up to `EOI`.
///
/// ITU-T T.81 annex B: B.1.1.2 markers and fill bytes, B.1.1.5 stuffed zeros, B.2.2 frame
/// header, B.2.5 `DNL`. Thumbnails lie in `APPn` segments and are skipped with them. Stray bytes
/// between segments are passed over, as decoders do.
struct JPEGWalker: ImageWalker {
    let mediaType: MediaType? = .jpeg
    private(set) var size: PixelSize?
    /// Kept apart from the size: the lines may be 0 here and be told by `DNL` after the first scan.
    private var width: UInt16 = 0
    /// The last segment was the header of a scan, so entropy-coded data follows.
    private var isInScan = false
    /// At least one byte of entropy-coded data came.
    private var hasData = false
    private var end: UInt64?
    /// The marker of the segment being read.
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
        if Self.isFrame(segment) {
            width = field.big(UInt16.self, at: 5)
            size = PixelSize(width, field.big(UInt16.self, at: 3))
        } else if segment == Self.defineLines, size == nil {
            size = PixelSize(width, field.big(UInt16.self, at: 2))
        }
        let length = Int(field.big(UInt16.self, at: 0))
        return .scan(after: UInt64(max(0, length - field.bytes.count)))
    }

    /// Decoders show what is there, and too many have lost their end to be refused.
    let missesWhatIsCut = false

    func verdict(at length: UInt64) -> WalkVerdict {
        hasData && size != nil ? .ends(at: end, of: length) : .empty
    }

    /// What follows the marker `code`; `nil` if it stands alone or is none.
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
            return .read(Self.bytesOfInterest(code))
        }
    }

    /// The length of a segment is two bytes; a frame header and `DNL` say more after it.
    private static func bytesOfInterest(_ code: UInt8) -> Int {
        if isFrame(code) { return 7 }
        return code == defineLines ? 4 : 2
    }

    /// `SOF0` to `SOF15`; the gaps are `DHT`, `JPG` and `DAC`.
    private static func isFrame(_ code: UInt8) -> Bool {
        0xC0...0xCF ~= code && code != 0xC4 && code != 0xC8 && code != 0xCC
    }

    private static let endOfImage: UInt8 = 0xD9
    private static let startOfScan: UInt8 = 0xDA
    private static let defineLines: UInt8 = 0xDC
}
