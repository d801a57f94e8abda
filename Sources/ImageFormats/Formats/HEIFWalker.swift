/// AVIF and HEIC: the boxes of an ISO base media file, some of them inside `meta`.
///
/// ISO/IEC 14496-12 §4.3 `ftyp`, §8.11 `meta`; ISO/IEC 23008-12 §6.5.3 `ispe`, §6.5.10 `irot`, §6.5.12 `imir`, §9.3.1 `iprp`, annex O
/// `mini`. The walker enters a container by not skipping it: the children follow the header, and the next
/// sibling follows the children. No box marks the end of the file. The file is whole at the end of a
/// top-level box if the walker has seen a primary item in `meta` (or a `moov`), the data, and all bytes
/// that `iloc` points at. Of data that reaches to the end of the file, only those bytes are needed. A
/// `mini` has all of that in one box.
struct HEIFWalker: ImageWalker {
    private enum Awaiting {
        case header
        case payload(FourCC)
    }

    /// The maximum size of a box that is read. The boxes of interest are small, so larger ones are skipped.
    private static let payloadLimit: UInt64 = 65_536

    private(set) var mediaType: MediaType?
    private var awaiting = Awaiting.header
    private var headers = BoxHeaderReader()
    private var items = HEIFItems()
    /// The file has a primary item or a sequence of images.
    private var hasItems = false
    private var hasData = false
    /// The file has a sequence of images, whose data `iloc` does not locate.
    private var hasTracks = false
    /// The data reaches to the end of the file, and `iloc` locates all of it.
    private var hasOpenData = false
    /// End of the current top-level box. `nil` if it reaches to the end of the file.
    private var boxEnd: UInt64? = 0
    /// End of the property container. The boxes before it are properties, numbered from 1.
    private var propertiesEnd: UInt64 = 0
    /// The end of the image, if bytes follow it that are not a box.
    private var end: UInt64?
    /// The image was whole at the start of some box. The bytes behind it can look like a box without being one.
    private var wasWhole = false
    /// All properties of the image have been read.
    private var hasOrientation = false

    var size: PixelSize? { items.size }
    var shownSize: PixelSize? { items.shownSize(fromCorner: mediaType == .avif) }
    var orientation: Orientation? { hasOrientation ? items.orientation : nil }

    let firstStep = WalkStep.read(8)

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .payload(let type):
            awaiting = .header
            return gathered(type, field)
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
        guard hasItems, hasData else { return .empty }
        // The file is cut if the current box, or data that `iloc` points at, ends behind `length`. The latter
        // finds a data box that is missing altogether.
        if !wasWhole, max(boxEnd ?? 0, items.dataEnd) > length { return .cut }
        guard let boxEnd else {
            return hasOpenData ? .reaches(items.dataEnd, of: length, slack: .max) : .unverifiable
        }
        guard BoxHeader.isMissing(from: boxEnd, to: length) else { return .truncated }
        return .reaches(max(boxEnd, items.dataEnd), of: length)
    }

    /// Handles bytes that are not a box: trailing bytes if the image is whole before them, otherwise damage.
    private mutating func junk(at start: UInt64) -> WalkStep {
        if verdict(at: start).completeness == .whole { end = start }
        return .rest
    }

    private mutating func opened(_ box: BoxHeader) -> WalkStep {
        if let boxEnd, box.start >= boxEnd {
            wasWhole = wasWhole || verdict(at: box.start).completeness == .whole
            self.boxEnd = box.end
            hasOrientation = size != nil
            return openedTopLevel(box)
        }
        guard let end = box.end, end <= boxEnd ?? .max else { return .rest }
        return openedInMeta(box, end: end)
    }

    private mutating func openedTopLevel(_ box: BoxHeader) -> WalkStep {
        switch box.type {
        case "ftyp":
            return gather(box)
        case "meta" where (box.payloadLength ?? .max) >= 4:
            return .read(8, after: 4)
        case "mini" where (box.payloadLength ?? .max) >= HEIFMinimized.headLength:
            awaiting = .payload(box.type)
            return .read(HEIFMinimized.headLength)
        case "moov":
            hasItems = true
            hasTracks = true
        case "mdat":
            hasData = hasData || box.payloadLength != 0
            hasOpenData = box.end == nil && items.dataEnd > 0 && !hasTracks
        default:
            break
        }
        return box.stepOver
    }

    private mutating func openedInMeta(_ box: BoxHeader, end: UInt64) -> WalkStep {
        if box.start < propertiesEnd { items.propertyCount += 1 }
        switch box.type {
        case "iprp":
            return .read(8)
        case "ipco":
            propertiesEnd = end
            return .read(8)
        case "pitm":
            hasItems = true
            return gather(box)
        case "ispe", "clap", "irot", "imir", "ipma", "iloc":
            return gather(box)
        case "idat":
            hasData = hasData || box.payloadLength != 0
        default:
            break
        }
        return box.stepOver
    }

    private mutating func gather(_ box: BoxHeader) -> WalkStep {
        guard let length = box.payloadLength, 1...Self.payloadLimit ~= length else {
            return box.stepOver
        }
        awaiting = .payload(box.type)
        return .read(Int(length))
    }

    private mutating func gathered(_ type: FourCC, _ field: ByteField) -> WalkStep {
        switch type {
        case "ftyp":
            mediaType = HEIFBrands.mediaType(of: field)
            return mediaType == .other ? .rest : .read(8)
        case "mini":
            items.takeMinimized(field)
            (hasItems, hasData, hasOrientation) = (size != nil, true, true)
            return boxEnd.map { .read(8, after: $0 - field.end) } ?? .rest
        default:
            items.take(type, field)
            return .read(8)
        }
    }
}
