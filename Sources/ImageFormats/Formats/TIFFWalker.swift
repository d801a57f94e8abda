/// TIFF and BigTIFF: directories and the pixels, all anywhere in the file.
///
/// TIFF 6.0 §2 and the BigTIFF design. The first directory has the size and the orientation. The file ends with its last directory,
/// value or strip, whichever is behind the others. The walker knows that end if each directory, and each list
/// of strips, is behind the one before it.
struct TIFFWalker: ImageWalker {
    private enum Awaiting {
        /// The offset of the next directory, in the file header or behind the entries.
        case directory
        case count, entry
        /// Numbers about the strips, of this width.
        case strips(width: Int)
        /// The walk is complete.
        case nothing
    }

    let mediaType: MediaType? = .tiff
    private(set) var size: PixelSize?
    private(set) var orientation: Orientation?
    private let variant: TIFFVariant
    private var awaiting = Awaiting.directory
    private var entriesLeft: UInt64 = 0
    private var directory: TIFFDirectory?
    private var strips: TIFFStrips?
    /// Offset of the next directory. 0 behind the last one.
    private var next: UInt64 = 0
    private var isFirst = true
    /// The first directory describes an image or points at one.
    private var hasImage = false
    /// Offset of the byte after the last one without which decoders do not show the first image.
    private var neededEnd: UInt64 = 0
    /// Offset of the byte after the last one that is known to belong to the file.
    private var end: UInt64 = 0
    /// The walker cannot know all bytes of the file.
    private var isOpen = false

    init(_ variant: TIFFVariant) {
        self.variant = variant
    }

    var firstStep: WalkStep { .read(offsetWidth, after: UInt64(offsetWidth)) }

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .directory:
            next = numbers(offsetWidth, in: field)[0]
            return directory == nil ? nextDirectory(from: field.end) : pixels(from: field.end)
        case .count:
            entriesLeft = numbers(field.bytes.count, in: field)[0]
            directory = TIFFDirectory()
            awaiting = .entry
            return entriesLeft == 0 ? .rest : .read(entryLength)
        case .entry:
            directory?.take(TIFFEntry(field, variant))
            entriesLeft -= 1
            return entriesLeft == 0 ? directoryEnded(at: field.end) : .read(entryLength)
        case .strips(let width):
            let taken = numbers(width, in: field)
            strips?.take(taken)
            return pixels(from: field.end)
        case .nothing:
            return .rest
        }
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        guard hasImage else { return .empty }
        if neededEnd > length { return .cut }
        guard case .nothing = awaiting else { return .truncated }
        return isOpen && end <= length ? .unverifiable : .ends(at: end, of: length)
    }

    private var offsetWidth: Int { variant.isBigTIFF ? 8 : 4 }
    private var entryLength: Int { variant.isBigTIFF ? 20 : 12 }

    private mutating func directoryEnded(at position: UInt64) -> WalkStep {
        guard let directory else { return .rest }
        strips = directory.strips
        end = max(end, directory.valuesEnd, position + UInt64(offsetWidth))
        isOpen = isOpen || directory.hasPointers || strips == nil
        if isFirst {
            size = directory.size
            orientation = directory.orientation ?? .upright
            hasImage = directory.hasImage
            neededEnd = strips?.neededEnd ?? 0
        }
        awaiting = .directory
        return .read(offsetWidth)
    }

    /// Reads the lists of strips to find the end of the pixels, and goes on to the next directory.
    private mutating func pixels(from position: UInt64) -> WalkStep {
        if isFirst, let strips { neededEnd = strips.neededEnd }
        switch strips?.next {
        case .read(let list) where list.offset >= position:
            awaiting = .strips(width: list.width)
            return .read(list.width * list.count, after: list.offset - position)
        case .ended(let pixelsEnd):
            end = max(end, pixelsEnd)
        case .read, .unknown, nil:
            isOpen = true
        }
        isFirst = false
        return nextDirectory(from: position)
    }

    private mutating func nextDirectory(from position: UInt64) -> WalkStep {
        guard next >= position else {
            isOpen = isOpen || next > 0
            awaiting = .nothing
            return .rest
        }
        awaiting = .count
        return .read(variant.isBigTIFF ? 8 : 2, after: next - position)
    }

    private func numbers(_ width: Int, in field: ByteField) -> [UInt64] {
        stride(from: 0, to: field.bytes.count, by: width).map {
            variant.number(width, in: field, at: $0)
        }
    }
}
