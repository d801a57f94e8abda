/// One entry of a TIFF directory: a tag, and the numbers of the tag or the offset of the numbers.
struct TIFFEntry: Sendable {
    let tag: UInt64
    let count: UInt64
    /// Bytes of each number. `nil` for a type that offsets and lengths cannot have.
    private let width: Int?
    /// The numbers themselves, or the offset of the first.
    private let field: ByteField
    private let variant: TIFFVariant

    /// - Parameter field: the entry: 12 bytes, or 20 bytes in BigTIFF.
    init(_ field: ByteField, _ variant: TIFFVariant) {
        tag = variant.number(2, in: field, at: 0)
        let type = variant.number(2, in: field, at: 2)
        // `SHORT`, `LONG` and `LONG8`.
        width = [3: 2, 4: 4, 16: 8][type]
        count = variant.number(variant.isBigTIFF ? 8 : 4, in: field, at: 4)
        self.field = field
        self.variant = variant
    }

    /// The number, if the entry has exactly one.
    var only: UInt64? { count == 1 ? last : nil }

    /// The last number, if it is inside the entry.
    var last: UInt64? {
        guard let width, count > 0, isInline else { return nil }
        return variant.number(width, in: field, at: valueIndex + (Int(count) - 1) * width)
    }

    /// The offset and the width of the last number, if it is outside of the entry.
    var lastElsewhere: (offset: UInt64, width: Int)? {
        guard let width, !isInline else { return nil }
        return (end - UInt64(width), width)
    }

    /// Offset of the byte after the last number. 0 if the numbers are inside the entry.
    var end: UInt64 {
        guard !isInline else { return 0 }
        let offset = variant.number(valueWidth, in: field, at: valueIndex)
        return offset.plusClamped(byteCount)
    }

    private var byteCount: UInt64 { count.timesClamped(UInt64(width ?? 0)) }
    private var isInline: Bool { byteCount <= UInt64(valueWidth) }
    private var valueWidth: Int { variant.isBigTIFF ? 8 : 4 }
    private var valueIndex: Int { 4 + valueWidth }
}
