/// The start of a JPEG XL codestream: ISO/IEC 18181-1, `SizeHeader` and the first fields of `ImageMetadata`.
struct JXLHeader: Sendable {
    let size: PixelSize
    let orientation: Orientation

    /// Bytes of the signature and of the longest header.
    static let byteCount = 12

    /// Reads the header. `nil` if it is incomplete.
    ///
    /// - Parameter bytes: the first ``byteCount`` bytes of the codestream, or fewer if it is shorter.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: [0xFF, 0x0A]) else { return nil }
        var bits = JXLBits(bytes.dropFirst(2))
        let size = bits.size()
        let orientation = bits.orientation()
        guard !bits.isSpent, let size else { return nil }
        (self.size, self.orientation) = (size, orientation)
    }
}

/// The bits of a header, one field after the other.
private struct JXLBits {
    private let bytes: ArraySlice<UInt8>
    private var position = 0

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Whether more bits were read than there are.
    var isSpent: Bool { position > bytes.count * 8 }

    mutating func size() -> PixelSize? {
        let isSmall = bits(1) == 1
        let height = side(isSmall: isSmall)
        let width =
            switch bits(3) {
            case 0: side(isSmall: isSmall)
            case 1: height
            case 2: height * 12 / 10
            case 3: height * 4 / 3
            case 4: height * 3 / 2
            case 5: height * 16 / 9
            case 6: height * 5 / 4
            default: height * 2
            }
        return PixelSize(width, height)
    }

    /// Two flags come first: all fields have their default, and the orientation is among the further fields.
    mutating func orientation() -> Orientation {
        bits(1) == 0 && bits(1) == 1 ? Orientation(minusOne: bits(3)) : .upright
    }

    /// One side: a multiple of 8 up to 256, or a number of 9, 13, 18 or 30 bits.
    private mutating func side(isSmall: Bool) -> UInt64 {
        if isSmall { return (bits(5) + 1) * 8 }
        return bits([9, 13, 18, 30][Int(bits(2))]) + 1
    }

    /// The next bits, least significant first. Bits past the end are zero.
    private mutating func bits(_ count: Int) -> UInt64 {
        defer { position += count }
        return (0..<count).reduce(0) { value, index in
            let bit = position + index
            let byte = bytes.dropFirst(bit / 8).first ?? 0
            return value | UInt64(byte >> (bit % 8) & 1) << index
        }
    }
}
