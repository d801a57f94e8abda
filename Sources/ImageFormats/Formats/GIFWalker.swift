/// GIF: a screen descriptor, then images and extensions made of sub-blocks, and a trailer.
///
/// GIF89a specification §15 to §27. Zero bytes between blocks are skipped, as decoders do. The first image
/// must not leave the screen. If it does, decoders extend the screen.
struct GIFWalker: ImageWalker {
    private enum Awaiting {
        case screen, block, image, codeSize, label, subBlock
    }

    /// The maximum of bits in an LZW code: appendix F.
    private static let longestCode: UInt8 = 12

    let mediaType: MediaType? = .gif
    private var awaiting = Awaiting.screen
    private var width = 0
    private var height = 0
    private var hasImage = false
    /// The next sub-blocks belong to an image.
    private var isInImage = false
    /// Offset of the first image's data.
    private var dataStart: UInt64?
    private var end: UInt64?

    var size: PixelSize? { PixelSize(width, height) }

    let firstStep = WalkStep.read(13)

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .screen:
            (width, height) = Self.pair(field, at: 6)
            return next(.block, after: Self.colorTableSize(field.bytes[10]))
        default:
            if !hasImage { extendScreen(over: field) }
            hasImage = true
            return next(.codeSize, after: Self.colorTableSize(field.bytes[8]))
        }
    }

    /// Blocks and sub-blocks can be one byte long, so they are taken from the bytes as these arrive: to collect each
    /// one as a field would cost ten times as much.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> ScanResult {
        var index = 0
        while index < bytes.count {
            if case .block = awaiting {
                // There can be millions of zeros between two blocks.
                index = bytes.firstIndex(notZeroFrom: index)
                guard index < bytes.count else { break }
            }
            let step = take(bytes[index], endingAt: offset + UInt64(index) + 1)
            index += 1
            guard case .scan = step.action, step.skip < UInt64(bytes.count - index) else {
                return (index, step)
            }
            index += Int(step.skip)
        }
        return (index, .scan())
    }

    /// Takes the byte that begins, labels or measures the next part.
    private mutating func take(_ byte: UInt8, endingAt offset: UInt64) -> WalkStep {
        switch awaiting {
        case .codeSize:
            isInImage = byte <= Self.longestCode
            return next(.subBlock)
        case .label:
            isInImage = false
            return next(.subBlock)
        case .subBlock:
            if isInImage, byte > 0 { dataStart = dataStart ?? offset }
            return next(byte == 0 ? .block : .subBlock, after: UInt64(byte))
        default:
            return blockStarted(byte, endingAt: offset)
        }
    }

    /// Decoders show an image that is cut off, as they do with JPEG.
    func verdict(at length: UInt64) -> WalkVerdict {
        guard let dataStart, length > dataStart else { return .empty }
        return .ends(at: end, of: length)
    }

    private mutating func blockStarted(_ introducer: UInt8, endingAt offset: UInt64) -> WalkStep {
        switch introducer {
        case 0x00: return next(.block)
        case 0x21: return next(.label)
        case 0x2C: return next(.image)
        case 0x3B: end = offset
        default: break
        }
        return .rest
    }

    private mutating func next(_ awaiting: Awaiting, after skip: UInt64 = 0) -> WalkStep {
        self.awaiting = awaiting
        return awaiting == .image ? .read(9, after: skip) : .scan(after: skip)
    }

    private mutating func extendScreen(over image: ByteField) {
        let (left, top) = Self.pair(image, at: 0)
        let (imageWidth, imageHeight) = Self.pair(image, at: 4)
        width = max(width, left + imageWidth)
        height = max(height, top + imageHeight)
    }

    private static func pair(_ field: ByteField, at index: Int) -> (Int, Int) {
        let first = field.little(UInt16.self, at: index)
        return (Int(first), Int(field.little(UInt16.self, at: index + 2)))
    }

    /// Bytes of the colour table that the packed fields of a descriptor announce.
    private static func colorTableSize(_ packed: UInt8) -> UInt64 {
        packed & 0x80 == 0 ? 0 : 3 << (UInt64(packed & 7) + 1)
    }
}
