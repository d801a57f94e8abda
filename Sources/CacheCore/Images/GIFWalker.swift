/// GIF: a screen descriptor, then images and extensions in sub-blocks, up to the trailer.
///
/// GIF89a specification §15 to §27. Zero bytes between blocks are passed over, as decoders do.
struct GIFWalker: ImageWalker {
    private enum Awaiting {
        case screen, block, image, label, subBlock
    }

    let mediaType: MediaType? = .gif
    private(set) var size: PixelSize?
    private var awaiting = Awaiting.screen
    private var hasImage = false
    private var end: UInt64?

    let firstStep = WalkStep.read(13)

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .screen:
            size = Self.size(field, at: 6)
            return next(.block, after: Self.colorTableSize(field.bytes[10]))
        case .block:
            return blockStarted(field.bytes[0], endingAt: field.end)
        case .image:
            hasImage = true
            size = size ?? Self.size(field, at: 4)
            return next(.subBlock, after: Self.colorTableSize(field.bytes[8]) + 1)
        case .label:
            return next(.subBlock)
        case .subBlock:
            let count = field.bytes[0]
            return next(count == 0 ? .block : .subBlock, after: UInt64(count))
        }
    }

    /// As with JPEG, decoders show what is there.
    let missesWhatIsCut = false

    func verdict(at length: UInt64) -> WalkVerdict {
        hasImage ? .ends(at: end, of: length) : .empty
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
        return .read(awaiting == .image ? 9 : 1, after: skip)
    }

    private static func size(_ field: ByteField, at index: Int) -> PixelSize? {
        PixelSize(field.little(UInt16.self, at: index), field.little(UInt16.self, at: index + 2))
    }

    /// Bytes of the colour table that the packed fields of a descriptor announce.
    private static func colorTableSize(_ packed: UInt8) -> UInt64 {
        packed & 0x80 == 0 ? 0 : 3 << (UInt64(packed & 7) + 1)
    }
}
