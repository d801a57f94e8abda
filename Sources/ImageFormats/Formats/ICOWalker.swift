/// ICO and CUR: a directory of images, each with its size and offset.
///
/// Microsoft, "Icons" (`ICONDIR`, `ICONDIRENTRY`). A cursor differs from an icon in its third byte, and has a
/// hot spot in the place of two other fields. The reported dimensions are those of the largest image.
/// A side of 256 pixels is written as 0. So is a longer side, which only a PNG inside the file can have.
struct ICOWalker: ImageWalker {
    private enum Awaiting {
        case header
        case entries(left: UInt16)
        /// The first bytes of the largest image.
        case image
    }

    let mediaType: MediaType? = .ico
    private(set) var size: PixelSize?
    private var awaiting = Awaiting.header
    /// Offset of the first image.
    private var first: UInt64 = .max
    private var hasDirectory = false
    /// An entry leaves the length of its image to the image itself.
    private var lacksLength = false
    /// Offset of the largest image.
    private var largest: UInt64 = 0
    private var end: UInt64 = 0

    let firstStep = WalkStep.read(6)

    /// Bytes of the header and of `count` entries.
    static func directorySize(_ count: UInt16) -> UInt32 { 6 + 16 * UInt32(count) }

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .header:
            return next(field.little(UInt16.self, at: 4), at: field.end)
        case .entries(let left):
            take(field)
            return next(left - 1, at: field.end)
        case .image:
            if field.holds([0x89, 0x50, 0x4E, 0x47]), field.holds("IHDR", at: 12) {
                size = PixelSize(field.big(UInt32.self, at: 16), field.big(UInt32.self, at: 20))
            }
            return .rest
        }
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        guard hasDirectory, length > first else { return .empty }
        return end <= length && lacksLength ? .unverifiable : .ends(at: end, of: length)
    }

    private mutating func take(_ entry: ByteField) {
        let offset = UInt64(entry.little(UInt32.self, at: 12))
        let byteCount = UInt64(entry.little(UInt32.self, at: 8))
        end = max(end, offset + byteCount)
        first = min(first, offset)
        lacksLength = lacksLength || byteCount == 0
        let size = PixelSize(Self.side(entry.bytes[0]), Self.side(entry.bytes[1]))
        guard let size, size.area > self.size?.area ?? 0 else { return }
        self.size = size
        largest = offset
    }

    private mutating func next(_ entriesLeft: UInt16, at position: UInt64) -> WalkStep {
        if entriesLeft > 0 {
            awaiting = .entries(left: entriesLeft)
            return .read(16)
        }
        hasDirectory = true
        awaiting = .image
        return largest < position ? .rest : .read(24, after: largest - position)
    }

    private static func side(_ byte: UInt8) -> Int { byte == 0 ? 256 : Int(byte) }
}
