/// One directory of a TIFF: the size of its image, and which bytes belong to it.
struct TIFFDirectory: Sendable {
    private var width: UInt64 = 0
    private var height: UInt64 = 0
    /// The entries with the offsets and with the lengths of the strips or tiles.
    private var offsets: TIFFEntry?
    private var lengths: TIFFEntry?
    /// Offset of the byte after the last value that is outside of its entry.
    private(set) var valuesEnd: UInt64 = 0
    /// The directory points at bytes that the walker does not follow: other directories, or a JPEG.
    private(set) var hasPointers = false
    private var pointsAtImage = false
    private var compression: UInt64 = 1
    private var samples: UInt64 = 1
    private var bits: UInt64 = 1
    private(set) var orientation: Orientation?

    var size: PixelSize? { PixelSize(width, height) }

    /// Whether the directory describes an image or points at one.
    var hasImage: Bool { size != nil || offsets != nil || pointsAtImage }

    /// The strips or tiles. `nil` without any. Programs disagree about compression 6, the first kind of JPEG in
    /// TIFF.
    var strips: TIFFStrips? {
        guard let offsets, compression != 6 else { return nil }
        return TIFFStrips(
            offsets: offsets, lengths: lengths, uncompressedLength: uncompressedLength)
    }

    mutating func take(_ entry: TIFFEntry) {
        valuesEnd = max(valuesEnd, entry.end)
        switch entry.tag {
        case 256 where width == 0: width = entry.only ?? 0
        case 257 where height == 0: height = entry.only ?? 0
        // Several samples are outside of the entry. They rarely have fewer than 8 bits each.
        case 258: bits = entry.last ?? 8
        case 259: compression = entry.only ?? 1
        case 273, 324: offsets = entry
        case 274 where orientation == nil: orientation = Orientation(entry)
        case 277: samples = entry.only ?? 1
        case 279, 325: lengths = entry
        // `SubIFDs` or a JPEG.
        case 330, 513: (hasPointers, pointsAtImage) = (true, true)
        // The directories of Exif, GPS and interoperability.
        case 34665, 34853, 40965: hasPointers = true
        default: break
        }
    }

    /// Bytes of all pixels together. `nil` if they are compressed.
    private var uncompressedLength: UInt64? {
        guard compression == 1, size != nil else { return nil }
        let row = width.timesClamped(samples).timesClamped(bits).plusClamped(7) / 8
        return row.timesClamped(height)
    }
}
