/// Finds the orientation in a block of Exif inside another format. Only its first directory is read, an entry at a
/// time.
///
/// CIPA DC-008 (Exif): the block is a TIFF. The first known orientation counts, as it does in Chromium. A
/// directory that starts before the block's header has ended, or behind the block, is not read.
struct ExifReader: Sendable {
    private enum Awaiting {
        case header, count, entry
    }

    /// Bytes that the reader needs first.
    static let headLength = 8

    private let start: UInt64
    /// Offset of the byte after the block.
    let end: UInt64
    private(set) var orientation = Orientation.upright
    private var awaiting = Awaiting.header
    private var variant: TIFFVariant?
    private var entriesLeft: UInt64 = 0

    /// `nil` if the block is too short to be one.
    init?(from start: UInt64, to end: UInt64) {
        guard start.plusClamped(UInt64(Self.headLength)) <= end else { return nil }
        (self.start, self.end) = (start, end)
    }

    /// Receives the bytes of the last step, and returns the next step. `nil` if the rest of the block does not matter.
    mutating func receive(_ field: ByteField) -> WalkStep? {
        guard let variant = variant ?? TIFFVariant(field), !variant.isBigTIFF else { return nil }
        self.variant = variant
        switch awaiting {
        case .header:
            awaiting = .count
            return read(2, at: start + variant.number(4, in: field, at: 4), from: field.end)
        case .count:
            awaiting = .entry
            entriesLeft = variant.number(2, in: field, at: 0)
        case .entry:
            entriesLeft -= 1
            if let found = Orientation(TIFFEntry(field, variant)) {
                orientation = found
                return nil
            }
        }
        return entriesLeft == 0 ? nil : read(12, at: field.end, from: field.end)
    }

    private func read(_ count: Int, at offset: UInt64, from position: UInt64) -> WalkStep? {
        guard offset >= position, offset + UInt64(count) <= end else { return nil }
        return .read(count, after: offset - position)
    }
}

extension Orientation {
    /// The value of the tag 274, `Orientation`. `nil` if the entry has another tag or an unknown value.
    init?(_ entry: TIFFEntry) {
        guard entry.tag == 274, entry.width == 2,
            let number = entry.only.flatMap(UInt8.init(exactly:))
        else { return nil }
        self.init(rawValue: number)
    }
}
