/// The size header of a JPEG XL codestream: ISO/IEC 18181-1 annex B (`SizeHeader`).
struct JXLSize {
    /// Bytes of the signature and of the longest size header.
    static let byteCount = 11

    private let bytes: ArraySlice<UInt8>
    private var position = 0

    /// Reads the dimensions. `nil` if the header is incomplete.
    ///
    /// - Parameter bytes: the first ``byteCount`` bytes of the codestream, or fewer if it is shorter.
    static func read(_ bytes: ArraySlice<UInt8>) -> PixelSize? {
        guard bytes.starts(with: [0xFF, 0x0A]) else { return nil }
        var header = JXLSize(bytes: bytes.dropFirst(2))
        return header.size()
    }

    private init(bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    private mutating func size() -> PixelSize? {
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
        return position <= bytes.count * 8 ? PixelSize(width, height) : nil
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
