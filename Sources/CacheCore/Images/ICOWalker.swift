/// ICO: a directory of images, each with its size and place.
///
/// Microsoft, "Icons" (`ICONDIR`, `ICONDIRENTRY`). Reports the first entry's dimensions.
struct ICOWalker: ImageWalker {
    let mediaType: MediaType? = .ico
    private(set) var size: PixelSize?
    /// Entries still to come; `nil` before the header.
    private var entriesLeft: UInt16?
    private var end: UInt64 = 0

    let firstStep = WalkStep.read(6)

    /// Bytes of the header and of `count` entries.
    static func directorySize(_ count: UInt16) -> UInt32 { 6 + 16 * UInt32(count) }

    mutating func receive(_ field: ByteField) -> WalkStep {
        guard let entriesLeft else {
            return next(field.little(UInt16.self, at: 4))
        }
        size = size ?? PixelSize(Self.side(field.bytes[0]), Self.side(field.bytes[1]))
        let length = UInt64(field.little(UInt32.self, at: 8))
        end = max(end, UInt64(field.little(UInt32.self, at: 12)) + length)
        return next(entriesLeft - 1)
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        entriesLeft == 0 ? .ends(at: end, of: length) : .empty
    }

    private mutating func next(_ entriesLeft: UInt16) -> WalkStep {
        self.entriesLeft = entriesLeft
        return entriesLeft == 0 ? .rest : .read(16)
    }

    /// A side of 256 pixels is written as 0.
    private static func side(_ byte: UInt8) -> Int { byte == 0 ? 256 : Int(byte) }
}
