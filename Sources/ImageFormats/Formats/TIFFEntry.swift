/// One entry of a TIFF directory: a tag, and the values of the tag or the offset of the values.
struct TIFFEntry: Sendable {
    /// Bytes of a value of each type, from `BYTE` to `IFD8`: TIFF 6.0 §2, TIFF Technical Note 1, BigTIFF.
    private static let sizes: [UInt64: Int] = [
        1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8,
        17: 8,
        18: 8,
    ]
    /// The types that offsets and lengths can have: `SHORT`, `LONG` and `LONG8`.
    private static let numbers: Set<UInt64> = [3, 4, 16]

    let tag: UInt64
    let count: UInt64
    /// Bytes of each number. `nil` if the values are not numbers that offsets and lengths can be.
    let width: Int?
    /// Bytes of all values. Values of an unknown type have none.
    private let byteCount: UInt64
    /// The values themselves, or the offset of the first.
    private let field: ByteField
    private let variant: TIFFVariant

    /// - Parameter field: the entry: 12 bytes, or 20 bytes in BigTIFF.
    init(_ field: ByteField, _ variant: TIFFVariant) {
        tag = variant.number(2, in: field, at: 0)
        count = variant.number(variant.isBigTIFF ? 8 : 4, in: field, at: 4)
        let type = variant.number(2, in: field, at: 2)
        let size = Self.sizes[type]
        width = Self.numbers.contains(type) ? size : nil
        byteCount = count.timesClamped(UInt64(size ?? 0))
        self.field = field
        self.variant = variant
    }

    /// The number, if the entry has exactly one.
    var only: UInt64? { count == 1 ? number(0) : nil }

    /// The last number, if it is inside the entry.
    var last: UInt64? { count > 0 ? number(count - 1) : nil }

    /// The number with this index, if it is inside the entry.
    func number(_ index: UInt64) -> UInt64? {
        guard let width, index < count, isInline else { return nil }
        return variant.number(width, in: field, at: valueIndex + Int(index) * width)
    }

    /// Offset of the first value, if the values are outside of the entry.
    var start: UInt64? {
        isInline ? nil : variant.number(valueWidth, in: field, at: valueIndex)
    }

    /// Offset of the byte after the last value. 0 if the values are inside the entry.
    var end: UInt64 { start?.plusClamped(byteCount) ?? 0 }

    private var isInline: Bool { byteCount <= UInt64(valueWidth) }
    private var valueWidth: Int { variant.isBigTIFF ? 8 : 4 }
    private var valueIndex: Int { 4 + valueWidth }
}
