/// The byte order of a TIFF and the width of its offsets, read from the first four bytes.
struct TIFFVariant: Sendable {
    let isBigEndian: Bool
    let isBigTIFF: Bool

    init?(_ head: ByteField) {
        isBigEndian = head.holds("MM")
        isBigTIFF = head.holds([0x2B], at: isBigEndian ? 3 : 2)
        let version: UInt8 = isBigTIFF ? 0x2B : 0x2A
        let expected = isBigEndian ? [0x4D, 0x4D, 0, version] : [0x49, 0x49, version, 0]
        guard head.holds(expected) else { return nil }
    }

    /// The number at `index`, which is 2, 4 or 8 bytes wide.
    func number(_ width: Int, in field: ByteField, at index: Int) -> UInt64 {
        switch width {
        case 2: UInt64(order(field.big(UInt16.self, at: index)))
        case 4: UInt64(order(field.big(UInt32.self, at: index)))
        default: order(field.big(UInt64.self, at: index))
        }
    }

    private func order<T: FixedWidthInteger>(_ value: T) -> T {
        isBigEndian ? value : value.byteSwapped
    }
}
