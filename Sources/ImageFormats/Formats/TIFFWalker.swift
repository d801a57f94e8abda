/// TIFF and BigTIFF: a directory and the pixels, both anywhere in the file.
///
/// TIFF 6.0 §2 and the BigTIFF design. The format does not state the end of the file. The walker checks that
/// the first directory is complete, and the lists of strips or tiles that it points at. It does not read
/// whole lists: it checks the end of a single strip, and the start of the last of several strips.
struct TIFFWalker: ImageWalker {
    private enum Awaiting {
        case offset, count, entry
        /// The offset of the last of several strips or tiles.
        case lastStrip
        /// The walk is complete.
        case nothing
    }

    let mediaType: MediaType? = .tiff
    private(set) var size: PixelSize?
    private let variant: TIFFVariant
    private var awaiting = Awaiting.offset
    private var entriesLeft: UInt64 = 0
    private var width: UInt64 = 0
    private var height: UInt64 = 0
    private var compression: UInt64 = 1
    private var samples: UInt64 = 1
    private var bits: UInt64 = 1
    /// The entries with the offsets and with the lengths of the strips or tiles.
    private var offsets: TIFFEntry?
    private var lengths: TIFFEntry?
    /// The directory describes an image or points at one.
    private var hasImage = false
    /// Offset of the byte after the last one that is known to belong to the image.
    private var end: UInt64 = 0

    init(_ variant: TIFFVariant) {
        self.variant = variant
    }

    var firstStep: WalkStep { .read(offsetWidth, after: UInt64(offsetWidth)) }

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .offset:
            let directory = variant.number(offsetWidth, in: field, at: 0)
            guard directory >= field.end else { return .rest }
            awaiting = .count
            return .read(variant.isBigTIFF ? 8 : 2, after: directory - field.end)
        case .count:
            entriesLeft = variant.number(field.bytes.count, in: field, at: 0)
            awaiting = .entry
            return entriesLeft == 0 ? .rest : .read(entryLength)
        case .entry:
            take(TIFFEntry(field, variant))
            entriesLeft -= 1
            return entriesLeft == 0 ? directoryEnded(at: field.end) : .read(entryLength)
        case .lastStrip, .nothing:
            awaiting = .nothing
            stripLies(at: variant.number(field.bytes.count, in: field, at: 0), length: 1)
            return .rest
        }
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        switch awaiting {
        case .offset, .count, .entry: .empty
        case .lastStrip, .nothing: hasImage ? (end > length ? .cut : .unverifiable) : .empty
        }
    }

    private var offsetWidth: Int { variant.isBigTIFF ? 8 : 4 }
    private var entryLength: Int { variant.isBigTIFF ? 20 : 12 }

    private mutating func take(_ entry: TIFFEntry) {
        switch entry.tag {
        case 256 where width == 0: width = entry.only ?? 0
        case 257 where height == 0: height = entry.only ?? 0
        // Several samples are outside of the entry. They rarely have fewer than 8 bits each.
        case 258: bits = entry.last ?? 8
        case 259: compression = entry.only ?? 1
        case 273, 324: offsets = entry
        case 277: samples = entry.only ?? 1
        case 279, 325: lengths = entry
        // Further directories, or a JPEG.
        case 330, 513: hasImage = true
        default: break
        }
    }

    private mutating func directoryEnded(at position: UInt64) -> WalkStep {
        awaiting = .nothing
        size = PixelSize(width, height)
        hasImage = hasImage || size != nil || offsets != nil
        // Programs disagree about 6, the first kind of JPEG in TIFF.
        guard let offsets, compression != 6 else { return .rest }
        end = max(offsets.end, lengths?.end ?? 0)
        if let last = offsets.last {
            stripLies(at: last, length: offsets.count == 1 ? onlyStripLength : 1)
        } else if let (offset, width) = offsets.lastElsewhere, offset >= position {
            awaiting = .lastStrip
            return .read(width, after: offset - position)
        }
        return .rest
    }

    /// Bytes of the only strip. Some files claim a strip that is far too long. Decoders of uncompressed pixels
    /// read only the bytes that the dimensions need, and so does this.
    private var onlyStripLength: UInt64 {
        let stated = lengths?.only ?? 1
        guard compression == 1, size != nil else { return stated }
        let row = width.timesClamped(samples).timesClamped(bits).plusClamped(7) / 8
        return min(stated, row.timesClamped(height))
    }

    /// Extends the image to the end of a strip. In a sparse file, a strip that is left out has offset 0.
    private mutating func stripLies(at offset: UInt64, length: UInt64) {
        if offset > 0 { end = max(end, offset.plusClamped(length)) }
    }
}
